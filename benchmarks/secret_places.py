"""Places where secrets stand in sessions, for the benchmark `secrets`; knows nothing of our rules.

A place is a text with `<s>` for the secret, and in named places `<NAME>`, `<name>`, `<camel>`, `<kebab>` for what it is called.
Special forms are files and commands whose syntax says where the password is, with no telling name or an unusual one.
"""

import base64
import json
import random
import string
from collections.abc import Callable
from typing import Literal, NamedTuple
from urllib.parse import quote

Category = Literal["named", "bare", "special"]


class Place(NamedTuple):
    """A place of a secret."""

    name: str
    category: Category
    text: str
    value: str = ""
    """In special forms: what the secret is, `password`, `token`, or the name of an encoding in `VALUES`."""


_NAMED = {
    "environment file": "# local\nDEBUG=1\n<NAME>=<s>\nPORT=8080\n",
    "export": "export <NAME>=<s> && npm run deploy",
    "export quoted": 'export <NAME>="<s>"\n',
    "prefix of a command": "<NAME>=<s> pytest -q tests/api",
    "JSON field": '{"host": "api.internal", "<name>": "<s>", "retries": 3}',
    "JSON camel case": '{"timeout":30,"<camel>":"<s>"}',
    "YAML": "service:\n  name: billing\n  <name>: <s>\n  replicas: 2\n",
    "YAML quoted": "env:\n  <NAME>: '<s>'\n  MODE: prod\n",
    "TOML": '[auth]\n<name> = "<s>"\nregion = "eu"\n',
    "INI": "[default]\n<name> = <s>\nregion = eu-west-1\n",
    "properties": "spring.application.name=orders\n<kebab>=<s>\n",
    "Python": 'client = Client(<name>="<s>", timeout=10)\n',
    "Python constant": "<NAME> = '<s>'\n",
    "JavaScript": "const <camel> = '<s>';\nfetch(url);\n",
    "JavaScript object": "new Client({ <camel>: `<s>`, region: 'eu' })",
    "Go": 'cfg := Config{\n\tRegion: "eu",\n}\n<camel> := "<s>"\n',
    "Ruby hash": 'config = { "<name>" => "<s>", "mode" => "live" }',
    "PHP define": "define('<NAME>', '<s>');\n",
    "PHP array": "'<name>' => '<s>',\n",
    "Rust": 'let <name>: &str = "<s>";\n',
    "Java": 'private static final String <NAME> = "<s>";\n',
    "C#": 'public string <camel> { get; set; } = "<s>";',
    "PowerShell": '$env:<NAME> = "<s>"\n',
    "Windows set": "set <NAME>=<s>\r\n",
    "URL query": "GET https://api.internal/v1/items?limit=5&<name>=<s> HTTP/1.1",
    "header": "> X-Api-Key: <s>\r\n> Accept: */*\r\n",
    "bearer header": 'headers={"Authorization": "Bearer <s>"}',
    "flag with space": "deploy --region eu --<kebab> <s> --dry-run",
    "flag with equals sign": "deploy --<kebab>=<s>",
    "diff added": "@@ -1,3 +1,4 @@\n name: x\n+<NAME>=<s>\n-<NAME>=\n",
    "log": "2026-03-01T10:11:12Z INFO config loaded <name>=<s> region=eu",
    "log with colon": "[debug] using <name>: <s>\n",
    "XML element": "<config><<kebab>><s></<kebab>></config>",
    "shell trace": "+ <NAME>=<s>\n+ run\n",
    "Terraform variable": 'variable "x" {}\n<name>   = "<s>"\n',
    "numbered lines": "    12→<NAME>=<s>\n    13→PORT=80\n",
    "kubectl describe": "    Environment:\n      <NAME>:  <s>\n      MODE:    prod\n",
    "Markdown": "Set `<NAME>=<s>` before you start.",
}
_BARE = {
    "prose": "here is the one to use: <s> please keep it",
    "prose in parentheses": "I logged in with it (<s>) yesterday.",
    "own line": "done\n<s>\nbye\n",
    "own line of a command": "$ cat /run/x\n<s>\n$ ls\n",
    "list of arguments": 'login("eu", "<s>")',
    "single quotes": "connect('<s>')",
    "JSON array": '["alpha", "<s>", 3]',
    "JSON neutral field": '{"id": 7, "value": "<s>"}',
    "YAML list": "items:\n- <s>\n- other\n",
    "command argument": "mytool login <s>",
    "echo": "echo <s> | mytool login --stdin",
    "log": "2026-03-01 10:11:12 INFO connected using <s>",
    "diff": "-    old\n+    <s>\n",
    "table": "| prod | <s> | 2026 |",
    "Markdown code": "Use `<s>` for staging.",
    "comment": "# <s>\nx = 1\n",
    "comma separated": "prod,<s>,active\n",
    "ANSI": "\x1b[32m<s>\x1b[0m ok",
    "numbered lines": "     7→<s>\n     8→end\n",
    "XML": "<item><s></item>",
    "assigned to x": 'x = "<s>"\n',
    "return": "    return '<s>';\n",
    "heredoc": "cat > f <<EOF\n<s>\nEOF\n",
    "path of a URL": "https://api.internal/hooks/<s>/send",
    "printf": "printf '%s' '<s>' > f",
    "tab separated": "prod\t<s>\t2026\n",
}
_SPECIAL = {
    "netrc": ("machine api.internal\n  login deploy\n  password <s>\n", "password"),
    "netrc on one line": ("machine api.internal login deploy password <s>\n", "password"),
    "docker config": ('{"auths":{"https://index.docker.io/v1/":{"auth":"<s>"}}}', "basic"),
    "curl -u": ("curl -u deploy:<s> https://api.internal/v1", "password"),
    "curl --user": ("curl -sS --user 'deploy:<s>' https://api.internal/v1", "password"),
    "wget": ("wget --user=deploy --password=<s> https://api.internal/f", "password"),
    "http login": ("http -a deploy:<s> GET api.internal/v1", "password"),
    "mysql -p": ("mysql -h db -u root -p<s> shop < dump.sql", "password"),
    "mysqldump": ("mysqldump -uroot -p'<s>' shop > dump.sql", "password"),
    "sshpass": ("sshpass -p <s> ssh deploy@web-1 uptime", "password"),
    "sshpass quoted": ("sshpass -p '<s>' scp f deploy@web-1:", "password"),
    "pgpass": ("db.internal:5432:shop:deploy:<s>\n", "password"),
    "PGPASSWORD": ("PGPASSWORD=<s> psql -h db -U deploy shop", "password"),
    "redis-cli": ("redis-cli -h cache -a <s> ping", "password"),
    "docker login": ("docker login -u deploy -p <s> registry.internal", "password"),
    "docker login by pipe": ("echo <s> | docker login -u deploy --password-stdin registry.internal", "password"),
    "mongo": ("mongosh --host db -u root -p <s> --authenticationDatabase admin", "password"),
    "smbclient": ("smbclient //files/share -U 'deploy%<s>'", "password"),
    "ldapsearch": ("ldapsearch -x -D cn=admin,dc=corp -w <s> -b dc=corp", "password"),
    "openssl pass": ("openssl enc -d -aes-256-cbc -pass pass:<s> -in f", "password"),
    "keytool": ("keytool -list -keystore k.jks -storepass <s>", "password"),
    "ansible": ("ansible_user=deploy ansible_ssh_pass=<s>\n", "password"),
    "chpasswd": ("echo 'deploy:<s>' | chpasswd", "password"),
    "htpasswd": ("htpasswd -b .htpasswd deploy <s>", "password"),
    "htpasswd file": ("deploy:$apr1$<s>\n", "crypt"),
    "shadow file": ("deploy:$6$<s>:19000:0:99999:7:::\n", "crypt512"),
    "Set-Cookie": ("Set-Cookie: session=<s>; Path=/; HttpOnly", "token"),
    "Cookie header": ("Cookie: theme=dark; sessionid=<s>; lang=en", "token"),
    "curl cookie": ("curl -b 'sid=<s>' https://app.internal/", "token"),
    "token as the user of a URL": ("git clone https://<s>@git.internal/team/app.git", "token"),
    "git remote": ("origin\thttps://x-access-token:<s>@git.internal/team/app.git (fetch)", "token"),
    "postgres URL": ("psql postgresql://deploy:<s>@db.internal:5432/shop", "password"),
    "redis URL": ("REDIS=redis://:<s>@cache:6379/0", "password"),
    "amqp URL": ("broker: amqp://deploy:<s>@mq:5672//", "password"),
    "Sentry DSN": ("dsn: https://<s>@o12345.ingest.sentry.io/678", "hex"),
    "git credential": ("protocol=https\nhost=git.internal\nusername=deploy\npassword=<s>\n", "password"),
    "git credential of a token": ("protocol=https\nhost=git.internal\nusername=deploy\npassword=<s>\n", "letters"),
    "git-credentials file": ("https://deploy:<s>@git.internal\n", "token"),
    "name and value": ('{"name":"DB_PASSWORD","value":"<s>"}', "password"),
    "name and value in YAML": ("        - name: DB_PASSWORD\n          value: <s>\n", "password"),
    "name and value in YAML, quoted": ('- name: API_TOKEN\n  value: "<s>"\n', "token"),
    "value before name": ('{"value": "<s>", "name": "SMTP_PASSWORD"}', "password"),
    "key and value": ('{"Key": "DB_PASSWORD", "Value": "<s>"}', "password"),
    "task definition": ('"environment": [\n  {\n    "name": "API_SECRET",\n    "value": "<s>"\n  }\n]', "token"),
    "Kubernetes secret": ("kind: Secret\nmetadata:\n  name: db\ndata:\n  password: <s>\n", "base64"),
    "Kubernetes secret of any name": ("kind: Secret\ntype: Opaque\ndata:\n  settings: <s>\n", "base64"),
    "kubeconfig key": ("users:\n- name: dev\n  user:\n    client-key-data: <s>\n", "pem64"),
    "kubeconfig token": ("users:\n- name: dev\n  user:\n    token: <s>\n", "token"),
    "Vault": (
        "====== Data ======\nKey         Value\n---         -----\npassword    <s>\nuser        deploy\n",
        "password",
    ),
    "Vault token": ("Key                  Value\n---                  -----\ntoken                <s>\n", "token"),
    "Vault JSON": ('{"data":{"data":{"db_pass":"<s>"},"metadata":{"version":2}}}', "password"),
    "SSM": ('{"Parameter": {"Name": "/prod/db/password", "Type": "SecureString", "Value": "<s>"}}', "password"),
    "SSM as text": ("PARAMETER\tarn:aws:ssm:x\ttext\t/prod/db/password\tSecureString\t<s>\t1", "password"),
    "Secrets Manager": (
        '{"Name": "prod/db", "SecretString": "{\\"username\\":\\"u\\",\\"password\\":\\"<s>\\"}"}',
        "password",
    ),
    "Secrets Manager plain": ('{"ARN": "arn:x", "Name": "prod/db", "SecretString": "<s>"}', "password"),
    "ANSI environment": ("\x1b[36mDB_PASSWORD\x1b[0m=\x1b[32m<s>\x1b[0m\n", "password"),
    "ANSI key and value": ("\x1b[1mapi_token\x1b[22m: \x1b[33m<s>\x1b[39m\n", "token"),
    "Dockerfile ENV": ("FROM alpine\nENV DB_PASSWORD <s>\nRUN true\n", "password"),
    "Dockerfile ARG": ("ARG NPM_TOKEN=<s>\n", "token"),
    "base64 of a PEM": ("data: <s>\n", "pem64"),
    "PEM": ("cat id\n<s>\n", "pem"),
    "PEM cut in the middle": ("tail -n 8 id_rsa\n<s>", "half"),
    "AWS credentials file": (
        "[default]\naws_access_key_id = AKIA2X3Y4Z5A6B7C2D3E\naws_secret_access_key = <s>\n",
        "aws",
    ),
    "AWS JSON": ('{"AccessKeyId": "ASIA2X3Y4Z5A6B7C2D3E", "SecretAccessKey": "<s>", "Expiration": "x"}', "aws"),
    "npmrc": ("//registry.internal/:_authToken=<s>\n", "token"),
    "npmrc _auth": ("registry=https://r.internal\n_auth=<s>\n", "basic"),
    "npmrc _password": ("//registry.internal/:_password=<s>\n", "base64"),
    "pypirc": ("[pypi]\nusername = __token__\npassword = <s>\n", "token"),
    "pip index": ("pip install --index-url https://deploy:<s>@pypi.internal/simple app", "token"),
    "yarnrc": ('npmAuthToken: "<s>"\n', "token"),
    "Maven settings": ("<server><id>r</id><username>u</username><password><s></password></server>", "password"),
    "NuGet settings": ('<add key="ClearTextPassword" value="<s>" />', "password"),
    "Gradle": ("signing.password=<s>\n", "password"),
    "Authorization Basic": ("Authorization: Basic <s>\r\n", "basic"),
    "Proxy-Authorization": ("Proxy-Authorization: Basic <s>\r\n", "basic"),
    "X-Auth-Token": ("-H 'X-Auth-Token: <s>'", "token"),
    "PRIVATE-TOKEN": ('curl -H "PRIVATE-TOKEN: <s>" https://git.internal/api/v4', "token"),
    "Terraform state": ('"attributes": {\n  "username": "u",\n  "password": "<s>",\n  "port": 5432\n}', "password"),
    "tfvars": ('db_password = "<s>"\n', "password"),
    "az access token": ('{\n  "accessToken": "<s>",\n  "expiresOn": "2026-01-01"\n}', "token"),
    "az connection string": (
        "DefaultEndpointsProtocol=https;AccountName=shop;AccountKey=<s>;EndpointSuffix=core.windows.net",
        "azure",
    ),
    "az storage keys": ('[{"keyName": "key1", "permissions": "FULL", "value": "<s>"}]', "azure"),
    "gcloud token": ("$ gcloud auth print-access-token\n<s>\n", "token"),
    "heroku config": ("=== shop Config Vars\nSMTP_PASSWORD: <s>\nMODE:          prod\n", "password"),
    "SAS": ("https://shop.blob.core.windows.net/c/f?sv=2022-11-02&se=2026&sr=b&sig=<s>", "sas"),
    "presigned": ("https://b.s3.amazonaws.com/f?X-Amz-Credential=x&X-Amz-Signature=<s>", "hex64"),
    "ADO connection string": ("Server=db;Database=shop;User Id=sa;Password=<s>;Encrypt=true", "password"),
    "JDBC": ("jdbc:mysql://db/shop?user=root&password=<s>&useSSL=true", "password"),
    "libpq": ("host=db port=5432 user=deploy password=<s> dbname=shop", "password"),
    "SQL identified by": ("CREATE USER 'app'@'%' IDENTIFIED BY '<s>';", "password"),
    "SQL password": ("ALTER ROLE app WITH LOGIN PASSWORD '<s>';", "password"),
    "SQL set password": ("SET PASSWORD FOR 'app'@'%' = PASSWORD('<s>');", "password"),
    "otpauth": ("otpauth://totp/App:me@corp?secret=<s>&issuer=App", "totp"),
    "escaped PEM in JSON": ('{"private_key": "<s>"}', "pemjson"),
    "URL-encoded": ("grant_type=password&username=u&password=<s>", "encoded"),
    "OAuth body": ("grant_type=refresh_token&client_id=x&refresh_token=<s>", "token"),
    "YAML block": ("password: |\n  <s>\nmode: x\n", "password"),
    "YAML folded": ("api_key: >-\n  <s>\nmode: x\n", "token"),
    "PowerShell secure string": ("ConvertTo-SecureString '<s>' -AsPlainText -Force", "password"),
    "net use": ("net use Z: \\\\files\\share /user:deploy <s>", "password"),
    "env -0": ("HOME=/root\x00DB_PASSWORD=<s>\x00PATH=/bin", "password"),
    "printenv": ("$ printenv GITHUB_TOKEN\n<s>\n", "token"),
    "declare -x": ('declare -x DB_PASSWORD="<s>"\n', "password"),
    "set -x of curl": ("+ curl -H 'Authorization: Bearer <s>' https://api.internal", "token"),
    "question and answer": ("Password: <s>\nWelcome\n", "password"),
    "prose password": ("the password is <s> and the user is deploy", "password"),
    "WordPress": ("define( 'DB_PASSWORD', '<s>' );", "password"),
    "Rails": ("secret_key_base: <s>\n", "hex128"),
    "Django": ("SECRET_KEY = 'django-insecure-<s>'\n", "symbols"),
    "wireguard": ("[Interface]\nPrivateKey = <s>\nAddress = 10.0.0.2/24\n", "wireguard"),
    "wifi": ('network={\n  ssid="corp"\n  psk="<s>"\n}\n', "password"),
    "GPG": ("echo <s> | gpg --batch --passphrase-fd 0 -d f", "password"),
    "GPG passphrase": ("gpg --batch --passphrase '<s>' -d f.gpg", "password"),
    "zip": ("7z x -p<s> backup.7z", "password"),
    "sudo": ("echo '<s>' | sudo -S apt-get update", "password"),
    "kubectl create secret": ("kubectl create secret generic db --from-literal=pw=<s>", "password"),
    "JWT cookie": ("Set-Cookie: auth=<s>; Path=/", "jwt"),
}
SPECIALS = tuple(Place(name, "special", text, value) for name, (text, value) in _SPECIAL.items())
NAMED = tuple(Place(name, "named", text) for name, text in _NAMED.items())
BARE = tuple(Place(name, "bare", text) for name, text in _BARE.items())


def _mixed(chance: random.Random, length: int, more: str = "") -> str:
    """Random letters and digits, with at least one of each and of the other characters."""
    alphabet = string.ascii_letters + string.digits + more
    needed = [chance.choice(part) for part in (string.ascii_lowercase, string.digits, more or string.ascii_uppercase)]
    rest = chance.choices(alphabet, k=length - len(needed))
    middle = needed[1:] + rest
    chance.shuffle(middle)
    return needed[0] + "".join(middle)


def _password(chance: random.Random) -> str:
    return _mixed(chance, chance.randint(10, 20), chance.choice(("", "", "!#%+.-_")))


def _base64(chance: random.Random) -> str:
    return base64.b64encode(_password(chance).encode()).decode()


def _pem(chance: random.Random) -> str:
    body = base64.b64encode(chance.randbytes(600)).decode()
    lines = [body[at : at + 64] for at in range(0, len(body), 64)]
    label = "RSA PRIVATE KEY"
    return "\n".join((f"-----BEGIN {label}-----", *lines, f"-----END {label}-----"))


VALUES: dict[str, Callable[[random.Random], str]] = {
    "password": _password,
    "token": lambda chance: _mixed(chance, chance.randint(32, 48)),
    "letters": lambda chance: "".join(chance.choices(string.ascii_letters, k=24)),
    "symbols": lambda chance: _mixed(chance, 50, "!@#%^&*(-_=+)"),
    "hex": lambda chance: chance.randbytes(16).hex(),
    "hex64": lambda chance: chance.randbytes(32).hex(),
    "hex128": lambda chance: chance.randbytes(64).hex(),
    "basic": lambda chance: base64.b64encode(f"deploy:{_password(chance)}".encode()).decode(),
    "base64": _base64,
    "aws": lambda chance: "".join(chance.choices(string.ascii_letters + string.digits + "+/", k=38)) + "a7",
    "azure": lambda chance: base64.b64encode(chance.randbytes(64)).decode(),
    "wireguard": lambda chance: base64.b64encode(chance.randbytes(32)).decode(),
    "sas": lambda chance: quote(base64.b64encode(chance.randbytes(32)).decode(), safe=""),
    "totp": lambda chance: base64.b32encode(chance.randbytes(20)).decode(),
    "crypt": lambda chance: f"{_mixed(chance, 8)}${_mixed(chance, 22)}",
    "crypt512": lambda chance: f"{_mixed(chance, 16)}${_mixed(chance, 86)}",
    "encoded": lambda chance: quote(_mixed(chance, 14, "!#%+&="), safe=""),
    "pem": _pem,
    "half": lambda chance: "\n".join(_pem(chance).split("\n")[5:]),
    "pem64": lambda chance: base64.b64encode(_pem(chance).encode()).decode(),
    "pemjson": lambda chance: json.dumps(_pem(chance))[1:-1],
    "jwt": lambda chance: ".".join(
        base64.urlsafe_b64encode(part).decode().rstrip("=")
        for part in (b'{"alg":"HS256","typ":"JWT"}', b'{"sub":"%d"}' % chance.randrange(10**9), chance.randbytes(32))
    ),
}
"""How the values of special forms are made."""
WRAPPINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "in JSON": lambda text: json.dumps({"type": "text", "text": text}, ensure_ascii=False),
    "in JSON twice": lambda text: json.dumps({"content": json.dumps({"output": text})}),
}
