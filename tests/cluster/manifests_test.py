"""The manifests of examples/kubernetes: against the schemas of Kubernetes and KServe, and against the server: its flags,
ports, probes and metrics.

TENON_KSERVE_CRDS may name a folder with KServe's CustomResourceDefinitions (config/crd/full of its repository): then the
manifests, and the schema in kserve_schema.yaml, are compared with those too.
"""

from __future__ import annotations

import ast
import copy
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import fixtures
import jsonschema
import kubernetes_validate
import yaml

sys.path.insert(0, str(fixtures.ROOT / "tests" / "serve"))
import clients  # noqa: E402  the path is set above

FOLDER = fixtures.ROOT / "examples" / "kubernetes"
KUBERNETES = "1.32"
KSERVE = "kserve==0.21.0"  # without its dependencies: its classes are read, not imported
SCHEMAS = yaml.safe_load((pathlib.Path(__file__).parent / "kserve_schema.yaml").read_text())
CRDS = os.environ.get("TENON_KSERVE_CRDS")
SERVER = pathlib.Path(os.environ["TENON_TEST_BUILD"]) / "bin" / "tensorflow_model_server"


def documents() -> list[dict]:
  return [document for path in sorted(FOLDER.glob("*.yaml")) for document in yaml.safe_load_all(path.read_text())]


def of_kind(kind: str) -> dict:
  (found,) = [document for document in documents() if document["kind"] == kind]
  return found


class Classes:
  """The fields of KServe's classes, read from its Python package."""

  def __init__(self) -> None:
    folder = clients.CACHE / KSERVE.replace("==", "-")
    if not (folder / ".complete").exists():
      subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps",
                      "--target", folder, KSERVE], check=True)
      (folder / ".complete").touch()
    self._folder = folder / "kserve" / "models"

  def fields(self, name: str) -> dict[str, str]:
    """The types of a class's fields, by their names in YAML; KeyError if it is no class of KServe's."""
    words = re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "_", name).lower()
    path = self._folder / f"{words}.py"
    if not path.exists():
      raise KeyError(name)
    tables = {node.targets[0].id: ast.literal_eval(node.value) for node in ast.walk(ast.parse(path.read_text()))
              if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
              and node.targets[0].id in ("openapi_types", "attribute_map")}
    return {tables["attribute_map"][field]: kind for field, kind in tables["openapi_types"].items()}

  def check(self, value: object, kind: str, where: str) -> list[str]:
    """What in `value` is not of that type."""
    if kind.startswith("list["):
      if not isinstance(value, list):
        return [f"{where}: not a list"]
      return [e for i, item in enumerate(value) for e in self.check(item, kind[5:-1], f"{where}[{i}]")]
    plain = {"str": str, "int": int, "bool": bool, "float": (int, float)}
    if kind in plain:
      return [] if isinstance(value, plain[kind]) else [f"{where}: not a {kind}"]
    try:
      fields = self.fields(kind)
    except KeyError:
      return []  # Kubernetes' own, see test_containers
    errors = [f"{where}.{name}: {kind} has no such field" for name in value if name not in fields]
    return errors + [e for name, item in value.items() if name in fields
                     for e in self.check(item, fields[name], f"{where}.{name}")]


def closed(schema: object) -> object:
  """An OpenAPI schema that refuses fields that it does not name, as `kubectl apply --validate=strict` does."""
  if isinstance(schema, list):
    return [closed(part) for part in schema]
  if not isinstance(schema, dict):
    return schema
  found = {key: closed(part) for key, part in schema.items()}
  if isinstance(schema.get("properties"), dict) and not schema.get("x-kubernetes-preserve-unknown-fields"):
    found.setdefault("additionalProperties", False)
  return found


def differences(ours: dict, theirs: dict, where: str) -> list[str]:
  """What `ours` says otherwise than `theirs`, or more than it."""
  if "const" in ours:  # the kind and its group, which the definition has elsewhere
    return []
  found = [f"{where}: {key} is {theirs.get(key)} in the definition, not {ours.get(key)}"
           for key in ("type", "enum", "minimum", "required") if ours.get(key) != theirs.get(key)]
  for name, part in ours.get("properties", {}).items():
    inner = theirs.get("properties", {}).get(name)
    found += differences(part, inner, f"{where}.{name}") if inner else [f"{where}: no {name} in the definition"]
  if "items" in ours:
    found += differences(ours["items"], theirs.get("items", {}), f"{where}[]")
  return found


class SchemaTest(unittest.TestCase):

  def test_kubernetes(self) -> None:
    kinds = []
    for document in documents():
      if "kserve" not in document["apiVersion"]:
        kubernetes_validate.validate(document, KUBERNETES, strict=True)
        kinds.append(document["kind"])
    self.assertEqual(sorted(kinds), ["Deployment", "HorizontalPodAutoscaler", "PodDisruptionBudget", "Service"])

  def test_kserve(self) -> None:
    classes = Classes()
    for kind, name in (("ServingRuntime", "V1alpha1ServingRuntime"), ("InferenceService", "V1beta1InferenceService")):
      document = of_kind(kind)
      self.assertEqual(classes.check(document, name, kind), [])
      document["spec"]["replica"] = 1
      self.assertEqual(len(classes.check(document, name, kind)), 1)

  def test_kserve_schema(self) -> None:
    for kind, schema in SCHEMAS.items():
      jsonschema.validate(of_kind(kind), schema)
    wrong = [("ServingRuntime", lambda spec: spec.pop("containers")),
             ("ServingRuntime", lambda spec: spec["supportedModelFormats"][0].update(version=2)),
             ("ServingRuntime", lambda spec: spec["supportedModelFormats"][0].update(priority=0)),
             ("ServingRuntime", lambda spec: spec.update(protocolVersion="v1")),
             ("InferenceService", lambda spec: spec["predictor"].update(scaleMetric="queue")),
             ("InferenceService", lambda spec: spec["predictor"]["model"].update(storageURI="pvc://x"))]
    for kind, spoil in wrong:
      document = copy.deepcopy(of_kind(kind))
      spoil(document["spec"])
      with self.subTest(kind), self.assertRaises(jsonschema.ValidationError):
        jsonschema.validate(document, SCHEMAS[kind])

  @unittest.skipUnless(CRDS, "needs KServe's definitions")
  def test_kserve_definitions(self) -> None:
    for kind, schema in SCHEMAS.items():
      path = pathlib.Path(CRDS) / f"serving.kserve.io_{kind.lower()}s.yaml"
      (version,) = yaml.load(path.read_text(), yaml.CSafeLoader)["spec"]["versions"]
      definition = version["schema"]["openAPIV3Schema"]
      self.assertEqual(of_kind(kind)["apiVersion"], f"serving.kserve.io/{version['name']}")
      jsonschema.validate(of_kind(kind), closed(definition))
      self.assertEqual(differences(schema, definition, kind), [])

  def test_containers(self) -> None:
    for container in of_kind("ServingRuntime")["spec"]["containers"]:
      kubernetes_validate.validate({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "x"},
                                    "spec": {"containers": [container]}}, KUBERNETES, strict=True)


@unittest.skipUnless(SERVER.exists(), "the server is not built")
class ServerTest(fixtures.FolderCase):
  """The server takes the flags, and answers the probes."""

  def check(self, container: dict, ports: dict[object, int]) -> None:
    shutil.copytree(fixtures.MLP, self.folder / container["name"] / "1")
    arguments = []
    for argument in container["args"]:
      if not re.match(r"--(rest_api_)?port=", argument):  # the test has others
        argument = re.sub(r"--model_base_path=.*", f"--model_base_path={self.folder / container['name']}", argument)
        arguments.append(argument.replace("=/cache", f"={self.cache}").replace("{{.Name}}", "digits"))
    server = clients.Server(*arguments, program=str(SERVER))
    try:
      for name in ("startupProbe", "readinessProbe", "livenessProbe"):
        if name in container:
          get = container[name]["httpGet"]
          self.assertIn(f"--rest_api_port={ports[get['port']]}", container["args"])
          server.wait_until(lambda path=get["path"]: server.get(path)[0] == 200)
      metric = of_kind("HorizontalPodAutoscaler")["spec"]["metrics"][0]["pods"]["metric"]["name"]
      self.assertIn(metric, str(server.get("/metrics")))
      self.assertEqual(server.get("/v1/models/digits")[0], 200)
    finally:
      server.end()

  def test_deployment(self) -> None:
    (container,) = of_kind("Deployment")["spec"]["template"]["spec"]["containers"]
    self.check(container, {port["name"]: port["containerPort"] for port in container["ports"]})

  def test_runtime(self) -> None:
    (container,) = of_kind("ServingRuntime")["spec"]["containers"]
    self.check(container, {port["containerPort"]: port["containerPort"] for port in container["ports"]})


if __name__ == "__main__":
  unittest.main()
