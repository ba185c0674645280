{{- /* Names and parts that several templates share. A program is a dictionary: root, name (coordinator or mirror), values. */}}

{{- define "program.name" }}{{ .root.Release.Name }}{{ if ne .name "coordinator" }}-{{ .name }}{{ end }}{{ end }}

{{- define "program.component" }}{{ if ne .name "coordinator" }}{{ .name }}-{{ end }}{{ end }}

{{- define "image" }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}{{ end }}

{{- define "claim" }}{{ .Values.storage.existingClaim | default (printf "%s-data" .Release.Name) }}{{ end }}

{{- define "pod.security" -}}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  fsGroup: 10001
  seccompProfile:
    type: RuntimeDefault
{{- end }}

{{- define "container.security" -}}
securityContext:
  readOnlyRootFilesystem: true
  allowPrivilegeEscalation: false
  capabilities:
    drop: [ALL]
{{- end }}

{{- define "pull.secrets" }}
{{- with .Values.image.pullSecrets }}
imagePullSecrets:
{{- range . }}
  - name: {{ . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "password" }}
{{- if hasPrefix "SASL" .Values.kafka.securityProtocol }}
- name: GROUP_COORDINATOR_SASL_PASSWORD
  valueFrom:
    secretKeyRef:
      name: {{ .Values.kafka.loginSecret }}
      key: password
{{- end }}
{{- end }}

{{- define "store.login" }}
{{- with .Values.storage.secret }}
envFrom:
  - secretRef:
      name: {{ . }}
{{- end }}
{{- end }}

{{- define "settings.toml" -}}
{{- range $key, $value := . }}
{{ toJson $key }} = {{ toJson $value }}
{{- end }}
{{- end }}
