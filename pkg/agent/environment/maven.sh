# Downloads the plugins and packages that the pom.xml files here name into the directory m2.
set -e
address=${https_proxy#http://}
login=
case $address in *@*) login=${address%@*} address=${address##*@} ;; esac
host=${address%:*} port=${address##*:}
{
	echo "<settings>$MAVEN_MIRRORS<proxies>"
	for protocol in http https; do
		echo "<proxy><id>$protocol</id><active>true</active><protocol>$protocol</protocol><host>$host</host><port>$port</port>"
		[ -z "$login" ] || echo "<username>${login%%:*}</username><password>${login#*:}</password>"
		echo "<nonProxyHosts>127.0.0.1|localhost</nonProxyHosts></proxy>"
	done
	echo "</proxies></settings>"
} >settings.xml
plugin=org.apache.maven.plugins:maven-dependency-plugin:3.8.1
get() { mvn -B -s settings.xml -Dmaven.repo.local="$PWD/m2" "$@"; }
{ get $plugin:go-offline && touch done; } | tee log
if [ ! -e done ]; then
	grep -m 2 '^\[ERROR\] .' log # the last lines are about how to get help
	exit 1
fi
# Surefire asks for the part that runs the tests only when it runs them.
for at in m2/org/apache/maven/plugins/maven-surefire-plugin/*; do
	for pair in junit/junit=junit4 org/testng/testng=testng org/junit/platform/junit-platform-engine=junit-platform; do
		if [ -d "$at" ] && [ -d "m2/${pair%=*}" ]; then
			get $plugin:get -Dartifact="org.apache.maven.surefire:surefire-${pair#*=}:${at##*/}" || true
		fi
	done
done
for at in m2/org/junit/platform/junit-platform-engine/*; do
	[ ! -d "$at" ] || get $plugin:get -Dartifact="org.junit.platform:junit-platform-launcher:${at##*/}" || true
done
# Later runs ask no registry, so which one had a package does not count.
for at in $(find m2 -name 'maven-metadata-*.xml'); do
	[ -e "${at%/*}/maven-metadata-central.xml" ] || cp "$at" "${at%/*}/maven-metadata-central.xml"
done
find m2 \( -name _remote.repositories -o -name '*.lastUpdated' -o -name resolver-status.properties \) -delete
