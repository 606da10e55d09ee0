import * as z from "zod/mini";
import { defaultSessionDiskMb, defaultWarmMax, leastSessionDiskMb } from "./defaults.ts";
import { isAddressRange } from "../trusted-proxies.ts";
import { integer, integerOrAuto, optionalSetting, setting, text } from "./setting.ts";

export const sessions = {
  placement: setting({
    schema: z.enum(["auto", "sandbox", "docker", "kubernetes", "process"]),
    summary:
      "Where sessions run: sandbox (bubblewrap), docker (a container each, see docker_host), kubernetes (a pod each, see kubernetes_image), process (no isolation) or auto (sandbox, else process).",
    fallback: "auto",
  }),
  docker_host: setting({
    schema: z
      .array(
        text.check(
          z.regex(
            /^(unix:\/\/\/.|tcp:\/\/.)/,
            "must be a socket on this machine, such as unix:///var/run/docker.sock, or the address of an engine with TLS, such as tcp://10.0.0.5:2376",
          ),
        ),
      )
      .check(z.minLength(1)),
    summary:
      "Engines of Docker or Podman, for the placement docker: a socket on this machine, or tcp://HOST:2376 of other machines (see docker_tls_dir). A user who may use one is as good as root on its machine.",
    fallback: ["unix:///var/run/docker.sock"],
  }),
  docker_tls_dir: optionalSetting({
    kind: "path",
    schema: text,
    summary: "Folder with ca.pem, cert.pem and key.pem of a client, for engines on other machines.",
    default: "none",
  }),
  docker_image: setting({
    schema: text,
    summary: "Image of each session's container, for the placement docker: the one of Shoal's Dockerfile.",
    fallback: "shoal",
  }),
  kubernetes_image: setting({
    schema: text,
    summary:
      "Image of each session's pod, for the placement kubernetes: the one of Shoal's Dockerfile, in the version of this server.",
    fallback: "shoal",
  }),
  kubernetes_namespace: optionalSetting({
    schema: text.check(z.regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "must be the name of a namespace")),
    summary: "Namespace of the pods of sessions, for the placement kubernetes.",
    default: "of the kubeconfig, or of the server's pod",
  }),
  kubernetes_runtime_class: optionalSetting({
    schema: text,
    summary:
      "RuntimeClass of the pods of sessions, for the placement kubernetes, such as kata or gvisor. It can also select nodes.",
    default: "none",
  }),
  kubernetes_warm_pool: optionalSetting({
    schema: text.check(z.regex(/^[a-z0-9]([-a-z0-9.]*[a-z0-9])?$/, "must be the name of a SandboxWarmPool")),
    summary:
      "SandboxWarmPool of agent-sandbox from which each session of the placement kubernetes claims its pod. The Helm chart makes one.",
    default: "none: a Sandbox for each session, or a pod without agent-sandbox",
  }),
  kubernetes_server_pod: optionalSetting({
    schema: text.check(
      z.regex(
        /^[a-z0-9][-a-z0-9.]{0,252}\/[0-9a-f-]{36}$/,
        "must be the name and the UID of a pod, such as shoal-0/UID",
      ),
    ),
    summary:
      "The pod of this server, NAME/UID, in the namespace of sessions: the cluster deletes the pods of its sessions after it. The Helm chart sets it.",
    default: "none",
  }),
  kubernetes_kubeconfig: optionalSetting({
    schema: text,
    summary: "File with the address of the cluster and the credentials, for the placement kubernetes.",
    default: "KUBECONFIG, ~/.kube/config, or the service account of the server's pod",
  }),
  warm: setting({
    schema: integerOrAuto(0, 100),
    summary:
      "Browsers kept waiting for the next session, 0 to 100. auto = as many as sessions are created while a new browser starts, from 1 to warm_max, within the free memory and CPU.",
    fallback: "auto",
  }),
  warm_max: setting({
    schema: integer(1, 500),
    summary: "The most browsers that wait with warm: auto.",
    fallback: defaultWarmMax,
    default: "8 for each core, at most 100",
  }),
  session_memory_mb: setting({
    schema: integer(0, 1_048_576).check(
      z.refine((value) => value === 0 || value >= 256, "must be 0 (no limit), or at least 256"),
    ),
    summary:
      "Memory limit in MiB of a sandboxed session, browser included; above it, the kernel ends its largest process. Needs the right to create control groups: root, or systemd with Delegate=yes. 0 = no limit.",
    fallback: 4096,
  }),
  session_memory_max_mb: setting({
    schema: integer(0, 1_048_576),
    summary:
      "Largest memory in MiB that a session may request (memory), if the service can limit memory. 0 = the memory of the machine.",
    fallback: 0,
  }),
  session_disk_mb: setting({
    schema: integer(0, 1_048_576).check(
      z.refine(
        (value) => value === 0 || value >= leastSessionDiskMb,
        `must be 0 (on the disk, without a limit), or at least ${String(leastSessionDiskMb)}`,
      ),
    ),
    summary:
      "Room in MiB for the files of a sandboxed session, one file for each 8 KiB. A quarter of it, at most 512, is shared memory (/dev/shm), and a part of 32, at most 64, that of System V. All are in memory and count towards session_memory_mb. 0 = on the disk, without a limit.",
    fallback: defaultSessionDiskMb,
    default: "2048, or half of the machine's memory if that is less",
  }),
  chromium: optionalSetting({
    kind: "path",
    schema: text,
    summary: "The Chromium to run.",
    default: "the first one found",
  }),
  allow_private_hosts: setting({
    schema: z.array(text),
    summary:
      "Private hosts, addresses or CIDR ranges, each with an optional :port, that pages and telemetry exports may reach.",
    fallback: [],
    default: "none",
  }),
  own_addresses: setting({
    schema: z.array(text.check(z.refine(isAddressRange, "must be addresses or CIDR ranges such as 203.0.113.0/28"))),
    summary:
      "Public addresses and CIDR ranges of the service that its machines cannot see, such as those of a NAT in front of them. Pages and requests of the service do not reach them.",
    fallback: [],
    default: "none",
  }),
  dev: setting({
    schema: z.boolean(),
    summary:
      "Development mode: sessions reach every port of this machine's loopback, such as http://localhost:3000. Only with a loopback host.",
    fallback: false,
  }),
  egress_proxy: optionalSetting({
    schema: text.check(
      z.refine(
        (value) => URL.canParse(value) && /^(?:https?|socks5):\/\/[^/]/.test(value),
        "must be an address such as http://proxy.example:3128, with http, https or socks5",
      ),
    ),
    summary:
      "Proxy by which this machine reaches the internet, with an optional user name and password. Sessions without a proxy, builds and apps use it for hosts that are not private.",
    default: "none",
    secret: true,
  }),
  egress_proxy_bypass: setting({
    schema: z.array(
      text.check(
        z.refine((value) => /^(?:\*\.)?[\w.-]+$/.test(value), "must be names such as intranet.example or *.example"),
      ),
    ),
    summary: "Names, or *.example for all below one, that are reached without egress_proxy.",
    fallback: [],
    default: "none",
  }),
  egress_connections_per_session: setting({
    schema: integer(16, 100_000),
    summary: "Connections to the network that one session may have open; more are refused.",
    fallback: 256,
  }),
  egress_connections_per_project: setting({
    schema: integer(16, 1_000_000),
    summary:
      "Connections to the network that all sessions of a project may have open on this server; more are refused.",
    fallback: 2000,
  }),
  egress_idle_timeout_seconds: setting({
    schema: integer(10, 86_400),
    summary:
      "Seconds after which a session's connection to the network is closed when no byte passes. Raise it for pages whose WebSockets stay silent for longer.",
    fallback: 900,
  }),
  unsafe_no_isolation: setting({
    schema: z.boolean(),
    summary: "Listen beyond loopback although the process placement does not isolate.",
    fallback: false,
  }),
};
