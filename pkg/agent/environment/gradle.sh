# Downloads the program, plugins and packages that the build scripts here name into the
# directory gradle-home. The arguments run Gradle.
set -e
export GRADLE_USER_HOME="$HOME/.gradle"
mkdir -p "$GRADLE_USER_HOME"
address=${https_proxy#http://}
login=
case $address in *@*) login=${address%@*} address=${address##*@} ;; esac
{
	echo org.gradle.daemon=false
	echo systemProp.jdk.http.auth.tunneling.disabledSchemes=
	for protocol in http https; do
		echo "systemProp.$protocol.proxyHost=${address%:*}"
		echo "systemProp.$protocol.proxyPort=${address##*:}"
		[ -z "$login" ] || printf 'systemProp.%s.proxyUser=%s\nsystemProp.%s.proxyPassword=%s\n' $protocol "${login%%:*}" $protocol "${login#*:}"
	done
	echo 'systemProp.http.nonProxyHosts=127.0.0.1|localhost'
} >"$GRADLE_USER_HOME/gradle.properties"
{ "$@" --no-daemon --console=plain -I signalbox.gradle -Dorg.gradle.configuration-cache=false -Dorg.gradle.unsafe.configuration-cache=false signalboxFetch 2>&1 && touch done; } | tee log
if [ ! -e done ]; then
	sed -n -e '/went wrong/,/^\* Try/p' -e '/^Exception in/p' log | grep -v '^\*' | head -n 6 # the last lines are about how to get help
	exit 1
fi
# Later runs are offline, without a process that stays.
mkdir -p "$GRADLE_USER_HOME/init.d"
echo 'gradle.startParameter.offline = true' >"$GRADLE_USER_HOME/init.d/offline.gradle"
echo org.gradle.daemon=false >"$GRADLE_USER_HOME/gradle.properties"
find "$GRADLE_USER_HOME" \( -name '*.lock' -o -name '*.lck' -o -name gc.properties -o -name '*.zip' -path '*/wrapper/dists/*' \) -type f -delete
rm -rf gradle-home # the directory gradle has files of the repository
mv "$GRADLE_USER_HOME" gradle-home
