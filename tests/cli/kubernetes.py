"""What Kubernetes refuses of a Job: by the published schema of its API, and by what its server checks besides."""
import re

# The schema, as of Kubernetes 1.29: batch/v1 Job and every type that the example comes through, each with all of its
# fields. "!" before a field: it is required. A type is str, int, bool, a row of this table, a choice of words (a|b; of one, a|), a
# map of texts, any object (that is not looked into), or a list of these.
TYPES = {name: dict(field.split(":") for field in fields.split()) for name, fields in {
    "Job": "!apiVersion:batch/v1| !kind:Job| !metadata:Meta !spec:JobSpec status:object",
    "Meta": "annotations:map creationTimestamp:str deletionGracePeriodSeconds:int deletionTimestamp:str finalizers:[str]"
            " generateName:str generation:int labels:map managedFields:[object] name:str namespace:str"
            " ownerReferences:[object] resourceVersion:str selfLink:str uid:str",
    "JobSpec": "activeDeadlineSeconds:int backoffLimit:int backoffLimitPerIndex:int completionMode:NonIndexed|Indexed"
               " completions:int manualSelector:bool maxFailedIndexes:int parallelism:int podFailurePolicy:FailurePolicy"
               " podReplacementPolicy:TerminatingOrFailed|Failed selector:object suspend:bool !template:PodTemplate"
               " ttlSecondsAfterFinished:int",
    "FailurePolicy": "!rules:[FailureRule]",
    "FailureRule": "!action:FailJob|FailIndex|Ignore|Count onExitCodes:OnExitCodes onPodConditions:[OnPodCondition]",
    "OnExitCodes": "containerName:str !operator:In|NotIn !values:[int]",
    "OnPodCondition": "!type:str !status:True|False|Unknown",
    "PodTemplate": "metadata:Meta spec:PodSpec",
    "PodSpec": "activeDeadlineSeconds:int affinity:object automountServiceAccountToken:bool !containers:[Container]"
               " dnsConfig:object dnsPolicy:ClusterFirst|ClusterFirstWithHostNet|Default|None enableServiceLinks:bool"
               " ephemeralContainers:[object] hostAliases:[object] hostIPC:bool hostNetwork:bool hostPID:bool hostUsers:bool"
               " hostname:str imagePullSecrets:[object] initContainers:[Container] nodeName:str nodeSelector:map os:object"
               " overhead:map preemptionPolicy:Never|PreemptLowerPriority priority:int priorityClassName:str"
               " readinessGates:[object] resourceClaims:[object] restartPolicy:Always|OnFailure|Never runtimeClassName:str"
               " schedulerName:str schedulingGates:[object] securityContext:object serviceAccount:str serviceAccountName:str"
               " setHostnameAsFQDN:bool shareProcessNamespace:bool subdomain:str terminationGracePeriodSeconds:int"
               " tolerations:[object] topologySpreadConstraints:[object] volumes:[Volume]",
    "Container": "args:[str] command:[str] env:[Variable] envFrom:[object] image:str imagePullPolicy:Always|IfNotPresent|Never"
                 " lifecycle:object livenessProbe:object !name:str ports:[object] readinessProbe:object resizePolicy:[object]"
                 " resources:Resources restartPolicy:Always| securityContext:object startupProbe:object stdin:bool"
                 " stdinOnce:bool terminationMessagePath:str terminationMessagePolicy:File|FallbackToLogsOnError tty:bool"
                 " volumeDevices:[object] volumeMounts:[Mount] workingDir:str",
    "Variable": "!name:str value:str valueFrom:object",
    "Resources": "claims:[object] limits:map requests:map",
    "Mount": "!mountPath:str mountPropagation:None|HostToContainer|Bidirectional !name:str readOnly:bool subPath:str"
             " subPathExpr:str",
    "Volume": "awsElasticBlockStore:object azureDisk:object azureFile:object cephfs:object cinder:object configMap:object"
              " csi:object downwardAPI:object emptyDir:object ephemeral:object fc:object flexVolume:object flocker:object"
              " gcePersistentDisk:object gitRepo:object glusterfs:object hostPath:object iscsi:object !name:str nfs:object"
              " persistentVolumeClaim:Claim photonPersistentDisk:object portworxVolume:object projected:object"
              " quobyte:object rbd:object scaleIO:object secret:object storageos:object vsphereVolume:object",
    "Claim": "!claimName:str readOnly:bool",
}.items()}
PLAIN = {"str": str, "int": int, "bool": bool, "object": dict, "map": dict}


def against_schema(value, type_name="Job", place="job"):
    """What is wrong with a value, one text each."""
    if type_name.startswith("["):
        if not isinstance(value, list):
            return [f"{place} is no list"]
        return [p for i, each in enumerate(value) for p in against_schema(each, type_name[1:-1], f"{place}[{i}]")]
    if "|" in type_name:
        return [] if value in type_name.rstrip("|").split("|") else [f"{place}: {value!r} is none of {type_name}"]
    if type_name in PLAIN:
        if type(value) is not PLAIN[type_name]:
            return [f"{place}: {value!r} is no {type_name}"]
        return [p for key, each in value.items() for p in against_schema(each, "str", f"{place}.{key}")] if type_name == "map" else []
    if not isinstance(value, dict):
        return [f"{place} is no object"]
    fields = {name.lstrip("!"): each for name, each in TYPES[type_name].items()}
    found = [f"{place}.{name[1:]} is missing" for name in TYPES[type_name] if name[0] == "!" and name[1:] not in value]
    for name, each in value.items():
        found += against_schema(each, fields[name], f"{place}.{name}") if name in fields else [f"{place}.{name} is not known"]
    return found


def against_server(job):
    """Fields that need others, and names that lead nowhere: what the schema cannot say."""
    spec, pod = job["spec"], job["spec"]["template"]["spec"]
    indexed, per_index = spec.get("completionMode") == "Indexed", "backoffLimitPerIndex" in spec
    volumes, containers = {v["name"] for v in pod.get("volumes", [])}, {c["name"] for c in pod["containers"]}
    rules = spec.get("podFailurePolicy", {}).get("rules", [])
    codes = [rule["onExitCodes"] for rule in rules if "onExitCodes" in rule]
    checks = {
        "metadata.name is no DNS name": re.fullmatch(r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?", job["metadata"].get("name", "")),
        "Indexed needs completions": not indexed or "completions" in spec,
        "backoffLimitPerIndex needs Indexed": indexed or not per_index,
        "maxFailedIndexes needs backoffLimitPerIndex": per_index or "maxFailedIndexes" not in spec,
        "maxFailedIndexes is more than completions": spec.get("maxFailedIndexes", 0) <= spec.get("completions", 0),
        "restartPolicy is Never or OnFailure in a Job": pod.get("restartPolicy") in ("Never", "OnFailure"),
        "podFailurePolicy needs restartPolicy Never": not rules or pod.get("restartPolicy") == "Never",
        "FailIndex needs backoffLimitPerIndex": per_index or all(rule["action"] != "FailIndex" for rule in rules),
        "a rule has one of onExitCodes and onPodConditions":
            all(("onExitCodes" in rule) != ("onPodConditions" in rule) for rule in rules),
        "onExitCodes names no container": {c["containerName"] for c in codes if "containerName" in c} <= containers,
        "exit codes are sorted, each once, and In has no 0":
            all(c["values"] == sorted(set(c["values"]) - ({0} if c["operator"] == "In" else set())) for c in codes),
        "a mount has no volume": {m["name"] for c in pod["containers"] for m in c.get("volumeMounts", [])} <= volumes,
    }
    return [says for says, holds in checks.items() if not holds]
