{{- define "shoal.name" -}}
{{- .Values.nameOverride | default .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* At most 50 characters: names of pods and of volumes are longer. */}}
{{- define "shoal.fullname" -}}
{{- $name := include "shoal.name" . -}}
{{- if .Values.fullnameOverride -}}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" -}}
{{- else if contains $name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name $name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "shoal.selectorLabels" -}}
app.kubernetes.io/name: {{ include "shoal.name" . }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "shoal.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" | trunc 63 | trimSuffix "-" }}
{{ include "shoal.selectorLabels" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end -}}

{{- define "shoal.serviceAccountName" -}}
{{- .Values.serviceAccount.name | default (include "shoal.fullname" .) -}}
{{- end -}}

{{- define "shoal.image" -}}
{{- if .Values.image.digest -}}
{{- printf "%s@%s" .Values.image.repository .Values.image.digest -}}
{{- else -}}
{{- printf "%s:%s" .Values.image.repository (.Values.image.tag | default .Chart.AppVersion) -}}
{{- end -}}
{{- end -}}

{{/* Empty without a Secret. */}}
{{- define "shoal.secretName" -}}
{{- if .Values.secrets.existing -}}
{{- .Values.secrets.existing -}}
{{- else if .Values.secrets.values -}}
{{- include "shoal.fullname" . -}}
{{- end -}}
{{- end -}}

{{- define "shoal.sessionNamespace" -}}
{{- .Values.kubernetes.namespace | default .Release.Namespace -}}
{{- end -}}

{{/* "true" or empty. */}}
{{- define "shoal.hasSeveralServers" -}}
{{- if or .Values.autoscaling.enabled (gt (int .Values.replicas) 1) -}}true{{- end -}}
{{- end -}}

{{- define "shoal.sessionDrainSeconds" -}}
{{- if kindIs "invalid" .Values.drain.sessionSeconds -}}
{{- ternary 3600 0 (eq (include "shoal.hasSeveralServers" .) "true") -}}
{{- else -}}
{{- int .Values.drain.sessionSeconds -}}
{{- end -}}
{{- end -}}

{{- define "shoal.graceSeconds" -}}
{{- $drain := .Values.drain -}}
{{- add (int $drain.endpointSeconds) (int (include "shoal.sessionDrainSeconds" .)) (int $drain.shutdownSeconds) 30 -}}
{{- end -}}

{{/* The file shoal.config.yaml. */}}
{{- define "shoal.config" -}}
{{- $ingress := .Values.ingress -}}
{{- $scheme := ternary "https" "http" (ne $ingress.tlsSecret "") -}}
{{- $config := dict -}}
{{- if $ingress.enabled -}}
{{- $_ := set $config "public_url" (printf "%s://%s" $scheme $ingress.host) -}}
{{- if $ingress.contentHost -}}
{{- $_ := set $config "content_url" (printf "%s://%s" $scheme $ingress.contentHost) -}}
{{- end -}}
{{- end -}}
{{- $config = merge (deepCopy .Values.config) $config -}}
{{- $_ := set $config "placement" .Values.placement -}}
{{- $_ := set $config "drain_seconds" (int .Values.drain.requestSeconds) -}}
{{- $_ := set $config "session_drain_seconds" (int (include "shoal.sessionDrainSeconds" .)) -}}
{{- $_ := set $config "shutdown_seconds" (int .Values.drain.shutdownSeconds) -}}
{{- if eq .Values.placement "kubernetes" -}}
{{- $_ := set $config "kubernetes_image" (.Values.kubernetes.image | default (include "shoal.image" .)) -}}
{{- $_ := set $config "kubernetes_namespace" (include "shoal.sessionNamespace" .) -}}
{{- if .Values.kubernetes.runtimeClass -}}
{{- $_ := set $config "kubernetes_runtime_class" .Values.kubernetes.runtimeClass -}}
{{- end -}}
{{- if .Values.kubernetes.claims.enabled -}}
{{- $_ := set $config "kubernetes_warm_pool" (printf "%s-sessions" (include "shoal.fullname" .)) -}}
{{- end -}}
{{- end -}}
{{- if .Values.metrics.enabled -}}
{{- $_ := set $config "metrics_host" "0.0.0.0" -}}
{{- $_ := set $config "metrics_port" (int .Values.metrics.port) -}}
{{- end -}}
{{- toYaml $config -}}
{{- end -}}

{{/* Combinations that a schema cannot express. */}}
{{- define "shoal.check" -}}
{{- $values := .Values -}}
{{- $needsSecret := or $values.database.external $values.blobStore.external $values.metrics.enabled -}}
{{- if and $needsSecret (not (include "shoal.secretName" .)) -}}
{{- fail "database.external, blobStore.external and metrics.enabled read the Secret: set secrets.existing to its name." -}}
{{- end -}}
{{- if and $values.secrets.existing $values.secrets.values -}}
{{- fail "Set secrets.existing or secrets.values, not both." -}}
{{- end -}}
{{- if include "shoal.hasSeveralServers" . -}}
{{- if not $values.database.external -}}
{{- fail "Several servers (replicas, autoscaling.enabled) need one PostgreSQL: set database.external, and SHOAL_DATABASE_URL and SHOAL_SECRET_KEY in the Secret." -}}
{{- end -}}
{{- if not (or $values.blobStore.external $values.config.blobs_dir) -}}
{{- fail "Several servers (replicas, autoscaling.enabled) must share their files: set blobStore.external and SHOAL_BLOB_STORE_URL in the Secret, or config.blobs_dir on a volume that all servers mount." -}}
{{- end -}}
{{- end -}}
{{- if not (or $values.persistence.enabled $values.database.external) -}}
{{- fail "Without persistence.enabled, the embedded database would be lost with its pod: set database.external." -}}
{{- end -}}
{{- if and $values.autoscaling.enabled (not $values.metrics.enabled) -}}
{{- fail "autoscaling.enabled needs metrics.enabled, and prometheus-adapter with files/prometheus-adapter.yaml." -}}
{{- end -}}
{{- if and $values.autoscaling.enabled (gt (int $values.autoscaling.minReplicas) (int $values.autoscaling.maxReplicas)) -}}
{{- fail "autoscaling.minReplicas is larger than autoscaling.maxReplicas." -}}
{{- end -}}
{{- if and (or $values.metrics.serviceMonitor.enabled $values.metrics.alerts.enabled) (not $values.metrics.enabled) -}}
{{- fail "metrics.serviceMonitor.enabled and metrics.alerts.enabled need metrics.enabled." -}}
{{- end -}}
{{- if and $values.ingress.enabled $values.networkPolicy.enabled (not $values.ingress.from) -}}
{{- fail "The NetworkPolicy would stop the ingress controller: set ingress.from to its pods, or networkPolicy.enabled to false." -}}
{{- end -}}
{{- if and $values.sandbox.seccompProfile.install (not (and (eq $values.placement "sandbox") (eq $values.sandbox.seccompProfile.type "Localhost"))) -}}
{{- fail "sandbox.seccompProfile.install is for placement: sandbox and a profile of type Localhost." -}}
{{- end -}}
{{- if and $values.kubernetes.claims.enabled (ne $values.placement "kubernetes") -}}
{{- fail "kubernetes.claims.enabled is for placement: kubernetes." -}}
{{- end -}}
{{- if gt (int $values.drain.requestSeconds) (int $values.drain.shutdownSeconds) -}}
{{- fail "drain.requestSeconds is a part of drain.shutdownSeconds, and cannot be larger." -}}
{{- end -}}
{{- end -}}
