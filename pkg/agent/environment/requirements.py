# Prints the requirements of a Python project that this interpreter does not satisfy, one a
# line. It reads manifests and locks in the working directory and runs nothing of them.
import configparser, glob, os, re, sys

try:
    import tomllib
except ImportError:
    from pip._vendor import tomli as tomllib
from importlib import metadata, util
from pip._vendor.packaging.requirements import InvalidRequirement, Requirement

GROUPS = ("test", "tests", "testing", "dev", "develop", "development")
wanted = []


def read(name, seen):
    if name in seen or not os.path.isfile(name):
        return
    seen.add(name)
    with open(name, encoding="utf-8", errors="replace") as f:
        text = f.read().replace("\\\n", " ")
    for line in text.splitlines():
        line = re.sub(r"(^|\s)#.*", "", line).strip()
        m = re.match(r"(?:-r|--requirement)[ =]*(\S+)", line)
        if m:
            read(os.path.normpath(os.path.join(os.path.dirname(name), m.group(1))), seen)
        elif line and not line.startswith(("-", ".", "/")):
            wanted.append(re.split(r"\s--", line)[0].strip())


def load(name):
    if not os.path.isfile(name):
        return {}
    with open(name, "rb") as f:
        return tomllib.load(f)


def here(package):
    files = [w.get("url", w.get("filename", "")) for w in package.get("wheels", [])]
    files += [f.get("file", "") for f in package.get("files", [])]
    wheels = [f for f in files if f.endswith(".whl")]
    mark = "macosx" if sys.platform == "darwin" else "linux"
    return not wheels or any("-any." in f or mark in f for f in wheels)


locked = False
for lock in ("uv.lock", "poetry.lock"):
    for p in load(lock).get("package", []):
        source = p.get("source", {})
        if "version" in p and here(p) and not ({"editable", "virtual", "directory", "path", "git"} & set(source)) and source.get("type") != "git":
            wanted.append(p["name"] + "==" + p["version"])
            locked = True
    if locked:
        break
if not locked:
    seen = set()
    for pattern in ("requirements.txt", "*requirements*.txt", "requirements/*.txt"):
        for name in sorted(glob.glob(pattern)):
            if re.search(r"(^|[^a-z])(docs?|lint|mypy|pyright|typing|release|publish|bench|constraints?)([^a-z]|$)", name):
                continue
            read(name, seen)
    pyproject = load("pyproject.toml")
    project = pyproject.get("project", {})
    wanted += project.get("dependencies", [])
    for table in (project.get("optional-dependencies", {}), pyproject.get("dependency-groups", {})):
        for group, list_ in table.items():
            if group in GROUPS:
                wanted += [r for r in list_ if isinstance(r, str)]
    config = configparser.ConfigParser(interpolation=None)
    config.read("setup.cfg")
    if config.has_section("options"):
        wanted += config.get("options", "install_requires", fallback="").splitlines()
    if config.has_section("options.extras_require"):
        for group, text in config.items("options.extras_require"):
            if group in GROUPS:
                wanted += text.splitlines()
if "pytest" in sys.argv[1:] and util.find_spec("pytest") is None:
    wanted.append("pytest")


def satisfied(r):
    if r.marker and not r.marker.evaluate({"extra": ""}):
        return True
    try:
        return r.specifier.contains(metadata.version(r.name), prereleases=True) and not r.extras
    except metadata.PackageNotFoundError:
        return False


print("python: " + sys.executable)
own = load("pyproject.toml").get("project", {}).get("name", "").lower()
done = set()
for line in wanted:
    try:
        r = Requirement(line.strip())
    except InvalidRequirement:
        continue
    if r.url or r.name.lower() == own or satisfied(r) or str(r) in done:
        continue
    done.add(str(r))
    print("want: " + str(r))
