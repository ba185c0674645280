{{- define "program.toml" -}}
bootstrap.servers = {{ toJson .root.Values.kafka.bootstrapServers }}
security.protocol = {{ toJson .root.Values.kafka.securityProtocol }}
{{- if hasPrefix "SASL" .root.Values.kafka.securityProtocol }}
sasl.mechanism = {{ toJson .root.Values.kafka.saslMechanism }}
sasl.username = {{ toJson .root.Values.kafka.username }}
{{- end }}
{{- if .root.Values.kafka.certificatesSecret }}
ssl.truststore.location = "/etc/kafka-certificates/ca.pem"
{{- end }}
tables.root = {{ toJson .root.Values.storage.tablesRoot }}
checkpoint.location = {{ toJson .root.Values.storage.checkpointLocation }}
{{- if eq .name "coordinator" }}
shuffle.partitions = {{ .values.executors }}
{{- end }}
{{- include "settings.toml" (merge (dict) .values.settings .root.Values.settings) }}
{{- end }}

{{- define "program.settings" -}}
{{- $name := include "program.name" . -}}
apiVersion: v1
kind: ConfigMap
metadata:
  name: {{ $name }}
data:
  # Only settings that differ from conf/coordinator.toml.
  coordinator.toml: |
    {{- include "program.toml" . | nindent 4 }}

  spark.conf: |
    spark.kubernetes.container.image            {{ include "image" .root }}
    spark.kubernetes.namespace                  {{ .root.Release.Namespace }}
    spark.kubernetes.authenticate.executor.serviceAccountName  {{ .root.Release.Name }}-executor
    spark.kubernetes.executor.podTemplateFile   /etc/group-coordinator/executor.yaml
{{- with .root.Values.image.pullSecrets }}
    spark.kubernetes.container.image.pullSecrets  {{ join "," . }}
{{- end }}
    spark.driver.host                           {{ $name }}-driver.{{ .root.Release.Namespace }}.svc
    spark.driver.bindAddress                    0.0.0.0
    spark.driver.port                           7078
    spark.driver.blockManager.port              7079
    spark.blockManager.port                     7079
    # Spark makes the secret itself, and gives it to the executors in their pods.
    spark.authenticate                          true
    spark.network.crypto.enabled                true
    spark.network.crypto.authEngineVersion      2
    spark.network.crypto.saslFallback           false
    spark.io.encryption.enabled                 true
    spark.ui.enabled                            false
    spark.driver.memory                         {{ .values.driverMemory }}
    # One core a state partition, as many partitions as shuffle.partitions. A mirror has no state.
    spark.executor.instances                    {{ .values.executors }}
    spark.executor.cores                        1
    # The heap, and next to it RocksDB, the Python workers and Arrow.
    spark.executor.memory                       {{ .values.executorMemory }}
    spark.executor.memoryOverhead               {{ .values.executorMemoryOverhead }}
    spark.ui.showConsoleProgress                false
{{- range $key, $value := .root.Values.sparkConf }}
    {{ $key }}  {{ $value }}
{{- end }}

  executor.yaml: |
    apiVersion: v1
    kind: Pod
    metadata:
      labels:
        app.kubernetes.io/name: group-coordinator
        app.kubernetes.io/component: {{ include "program.component" . }}executor
    spec:
      {{- include "pod.security" .root | nindent 6 }}
      containers:
        - name: executor
          {{- with include "store.login" .root | trim }}{{ . | nindent 10 }}{{ end }}
          {{- include "container.security" .root | nindent 10 }}
          volumeMounts:
{{- if .root.Values.storage.volume }}
            - name: data
              mountPath: /data
{{- end }}
            - name: tmp
              mountPath: /tmp
{{- if .root.Values.kafka.certificatesSecret }}
            - name: kafka-certificates
              mountPath: /etc/kafka-certificates
              readOnly: true
{{- end }}
      volumes:
{{- if .root.Values.storage.volume }}
        - name: data
          persistentVolumeClaim:
            claimName: {{ include "claim" .root }}
{{- end }}
        - name: tmp
          emptyDir: {}
{{- if .root.Values.kafka.certificatesSecret }}
        - name: kafka-certificates
          secret:
            secretName: {{ .root.Values.kafka.certificatesSecret }}
{{- end }}
{{- end }}
