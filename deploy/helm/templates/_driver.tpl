{{- define "program.driver" -}}
{{- $name := include "program.name" . -}}
{{- $component := printf "%sdriver" (include "program.component" .) -}}
# Executors find the driver by this name, also before it is ready.
apiVersion: v1
kind: Service
metadata:
  name: {{ $name }}-driver
spec:
  clusterIP: None
  publishNotReadyAddresses: true
  selector:
    app.kubernetes.io/name: group-coordinator
    app.kubernetes.io/component: {{ $component }}
  ports:
    - name: driver
      port: 7078
    - name: blocks
      port: 7079
---
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ $name }}
spec:
  replicas: 1
  # The old driver ends before the new one starts: only one may write.
  strategy:
    type: Recreate
  selector:
    matchLabels:
      app.kubernetes.io/name: group-coordinator
      app.kubernetes.io/component: {{ $component }}
  template:
    metadata:
      labels:
        app.kubernetes.io/name: group-coordinator
        app.kubernetes.io/component: {{ $component }}
    spec:
      serviceAccountName: {{ .root.Release.Name }}
      {{- with include "pull.secrets" .root | trim }}{{ . | nindent 6 }}{{ end }}
      # The running batch ends first; the job waits for it for at most 600 s (driver/session.py).
      terminationGracePeriodSeconds: 660
      {{- include "pod.security" .root | nindent 6 }}
      containers:
        - name: driver
          image: {{ include "image" .root }}
          args:
            - spark-submit
            - --master=k8s://https://kubernetes.default.svc
            - --deploy-mode=client
            - --properties-file=/etc/group-coordinator/spark.conf
            - --conf=spark.kubernetes.driver.pod.name=$(POD_NAME)
{{- if eq .name "mirror" }}
            - /opt/group-coordinator/jobs/mirror_offsets_topic.py
            - --config=/etc/group-coordinator/coordinator.toml
            - --cluster={{ .values.cluster }}
            - --source={{ .values.source }}
{{- else }}
            - /opt/group-coordinator/jobs/run_coordinator.py
            - --config=/etc/group-coordinator/coordinator.toml
            - --progress=/scratch/progress.json
{{- end }}
            - --with-compaction
{{- if .root.Values.metrics.enabled }}
            - --metrics=0.0.0.0:9404
{{- if .root.Values.metrics.accessSecret }}
            - --set=metrics.password.file=/etc/metrics-access/login
            - --set=metrics.ssl.keystore.location=/etc/metrics-access/keystore.pem
{{- end }}
{{- end }}
          env:
            - name: POD_NAME
              valueFrom:
                fieldRef:
                  fieldPath: metadata.name
            - name: SPARK_LOCAL_DIRS
              value: /scratch
            {{- with include "password" .root | trim }}{{ . | nindent 12 }}{{ end }}
          {{- with include "store.login" .root | trim }}{{ . | nindent 10 }}{{ end }}
          ports:
            - name: driver
              containerPort: 7078
            - name: blocks
              containerPort: 7079
{{- if .root.Values.metrics.enabled }}
            - name: metrics
              containerPort: 9404
{{- end }}
{{- if eq .name "coordinator" }}
          # Ready: a batch has ended within the last two minutes. There is no liveness probe: a job that waits for Kafka,
          # or reads a backlog, ends no batch for a while and is well, and one that has failed ends by itself.
          readinessProbe:
            exec:
              command: [sh, -c, 'test -n "$(find /scratch/progress.json -mmin -2)"']
            periodSeconds: 30
            timeoutSeconds: 5
{{- else if .root.Values.metrics.enabled }}
          readinessProbe:
            httpGet:
              path: /readyz
              port: metrics
              {{- if .root.Values.metrics.accessSecret }}
              scheme: HTTPS
              {{- end }}
            periodSeconds: 30
            timeoutSeconds: 5
{{- end }}
          resources:
            requests:
              cpu: "1"
              memory: {{ .values.driverMemoryLimit }}
            limits:
              memory: {{ .values.driverMemoryLimit }}
          {{- include "container.security" .root | nindent 10 }}
          volumeMounts:
            - name: settings
              mountPath: /etc/group-coordinator
              readOnly: true
{{- if .root.Values.kafka.certificatesSecret }}
            - name: kafka-certificates
              mountPath: /etc/kafka-certificates
              readOnly: true
{{- end }}
{{- if .root.Values.metrics.accessSecret }}
            - name: metrics-access
              mountPath: /etc/metrics-access
              readOnly: true
{{- end }}
{{- if .root.Values.storage.volume }}
            - name: data
              mountPath: /data
{{- end }}
            - name: scratch
              mountPath: /scratch
            - name: tmp
              mountPath: /tmp
      volumes:
        - name: settings
          configMap:
            name: {{ $name }}
{{- if .root.Values.kafka.certificatesSecret }}
        - name: kafka-certificates
          secret:
            secretName: {{ .root.Values.kafka.certificatesSecret }}
{{- end }}
{{- if .root.Values.metrics.accessSecret }}
        - name: metrics-access
          secret:
            secretName: {{ .root.Values.metrics.accessSecret }}
{{- end }}
{{- if .root.Values.storage.volume }}
        - name: data
          persistentVolumeClaim:
            claimName: {{ include "claim" .root }}
{{- end }}
        - name: scratch
          emptyDir: {}
        - name: tmp
          emptyDir: {}
{{- end }}
