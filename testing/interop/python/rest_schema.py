"""schemathesis asks the gateway what its OpenAPI document permits: rest_schema.py URL EXAMPLES.

Each operation of WebHDFS is asked for with EXAMPLES sets of parameters that the document permits, and so many that it does not. Statuses,
content types, headers and bodies of the answers have to be as the document says, and an answer of 5xx has to hold an exception.
"""

import sys
import warnings

import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.checks import load_all_checks
from schemathesis.core.failures import FailureGroup
from schemathesis.generation.modes import GenerationMode
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

warnings.simplefilter("ignore")
url, examples = sys.argv[1], int(sys.argv[2])
CHECKS = [status_code_conformance, content_type_conformance, response_headers_conformance, response_schema_conformance]
# What is there before each operation, so that parameters meet something.
FILE, DIRECTORY = "schema/f", "schema/d"
# Parameters with which an operation is done: most combinations lack one.
VALUES = {
    "CHECKACCESS": {"fsaction": "r--"},
    "GETXATTRS": {"xattr.name": "user.a", "encoding": "text"},
    "RENAME": {"destination": "/schema/d/renamed"},
    "SETREPLICATION": {"replication": "1"},
    "SETOWNER": {"owner": "alice", "group": "staff"},
    "SETPERMISSION": {"permission": "750"},
    "SETTIMES": {"modificationtime": "1000", "accesstime": "-1"},
    "MODIFYACLENTRIES": {"aclspec": "user:bob:r--"},
    "REMOVEACLENTRIES": {"aclspec": "user:bob"},
    "SETACL": {"aclspec": "user::rw-,group::r--,other::---"},
    "SETXATTR": {"xattr.name": "user.b", "xattr.value": "0x41", "flag": "CREATE"},
    "REMOVEXATTR": {"xattr.name": "user.a"},
    "SETSTORAGEPOLICY": {"storagepolicy": "HOT"},
    "SETQUOTA": {"namespacequota": "1000", "storagespacequota": "-1"},
    "SETQUOTABYSTORAGETYPE": {"storagetype": "DISK", "storagespacequota": "-1"},
    "TRUNCATE": {"newlength": "5"},
    "CONCAT": {"sources": "/schema/d/g"},
    "CREATE": {"data": "true", "overwrite": "true", "createparent": "true", "replication": "1", "blocksize": "1048576",
               "permission": "644", "unmaskedpermission": "666", "noredirect": "false", "createflag": ""},
    "APPEND": {"data": "true", "offset": "-1", "noredirect": "false"},
    "DELETE": {"recursive": "true"},
    "OPEN": {"offset": "2", "length": "3", "noredirect": "false"},
}
session = requests.Session()


def prepare():
    put = {"headers": {"content-type": "application/octet-stream"}, "data": b"0123456789"}
    target = f"{url}/webhdfs/v1/{{}}?op={{}}&user.name=root"
    session.put(target.format(FILE, "CREATE&data=true&replication=1"), **put).raise_for_status()
    session.put(target.format(FILE, "SETXATTR&xattr.name=user.a&xattr.value=1")).raise_for_status()
    session.put(target.format(DIRECTORY + "/g", "CREATE&data=true&replication=1"), **put).raise_for_status()


document = session.get(f"{url}/openapi.json")
document.raise_for_status()
schema = schemathesis.openapi.from_dict(document.json())
schema.config.update(base_url=url)
failures, asked, seen = {}, 0, {}


def judge(case, op, path, values):
    global asked
    case.query = dict(case.query or {})
    if op is None:
        case.query.pop("op", None)
    else:
        case.query["op"] = op
    case.query.update(values)
    if case.path.endswith("{path}"):
        case.query["user.name"] = "root"
    case.query.pop("doas", None)
    if path is not None and "path" in (case.path_parameters or {}):
        case.path_parameters["path"] = path
    response = case.call(session=session, allow_redirects=False, timeout=60)
    asked += 1
    seen.setdefault(f"{case.method} {op}", set()).add(response.status_code)
    problems = []
    try:
        case.validate_response(response, checks=CHECKS)
    except FailureGroup as group:
        problems = [f"{failure.title}: {failure.message}" for failure in group.exceptions]
    if response.status_code >= 500 and "RemoteException" not in response.text:
        problems.append("no RemoteException")
    for problem in problems:
        key = f"{case.method} {case.path} op={op}: {problem.splitlines()[0]}"
        failures.setdefault(key, f"{response.request.url} {response.status_code}\n{problem}\n{response.text[:300]}")


def explore(operation, op, path, mode, values=None, count=examples):
    @settings(
        max_examples=count,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def one(case):
        judge(case, op, path, values or {})

    one()


for result in schema.get_all_operations():
    operation = result.ok()
    ops = [None]
    for parameter in operation.query:
        if parameter.name == "op":
            ops = parameter.definition["schema"]["enum"]
            if not parameter.is_required:
                ops = [None, *ops]
    for op in ops:
        if not operation.path.startswith("/webhdfs"):
            explore(operation, op, FILE, GenerationMode.POSITIVE, count=1)
            continue
        prepare()
        for path in [FILE, DIRECTORY, None]:
            explore(operation, op, path, GenerationMode.POSITIVE)
        explore(operation, op, FILE, GenerationMode.NEGATIVE)
        for path in [FILE, DIRECTORY]:
            prepare()
            explore(operation, op, path, GenerationMode.POSITIVE, VALUES.get(op), count=1)
            session.delete(f"{url}/webhdfs/v1/schema?op=DELETE&recursive=true&user.name=root")

for key in sorted(failures):
    print(f"{key}\n    " + failures[key].replace("\n", "\n    "))
print(f"{asked} requests, {len(failures)} kinds of failures; statuses: "
      + ", ".join(f"{name} {sorted(codes)}" for name, codes in sorted(seen.items())))
if failures:
    sys.exit(1)
print("done")
