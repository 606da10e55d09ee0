import { Shoal } from "@shoal/client";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { until } from "./until.ts";

const run = promisify(execFile);
const chart = join(import.meta.dirname, "../../../../charts/shoal");
const minutes = 60_000;

/** The folder of the node that `npm run kubernetes` runs. */
export const node = process.env.SHOAL_TEST_KUBERNETES;
/** An address of the node that the egress gateway takes for a public one. */
export const publicAddress = "93.184.215.14";

export interface Pod {
  readonly metadata: { readonly name: string; readonly uid: string; readonly deletionTimestamp?: string };
  readonly status: { readonly phase: string; readonly podIP?: string };
}

export async function kubectl(...args: readonly string[]): Promise<string> {
  return (await run("kubectl", args, { timeout: 5 * minutes, maxBuffer: 2 ** 26 })).stdout;
}

export async function apply(...objects: readonly object[]): Promise<void> {
  const applying = run("kubectl", ["apply", "--filename", "-"]);
  applying.child.stdin?.end(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  await applying;
}

/** Stops a program of the control plane until the returned function is called. */
export function pause(program: string): () => void {
  const pid = Number(readFileSync(join(node ?? "", `${program}.pid`), "utf8"));
  process.kill(pid, "SIGSTOP");
  return () => process.kill(pid, "SIGCONT");
}

/** With its extensions, as its release has them. */
export async function installAgentSandbox(): Promise<void> {
  const objects = join(process.env.SHOAL_KUBERNETES ?? "", "agent-sandbox");
  const image = process.env.SHOAL_TEST_AGENT_SANDBOX ?? "";
  const files = ["controller", "rbac.generated", "extensions", "extensions-rbac.generated", "extensions.controller"];
  await kubectl("apply", "--server-side", "--filename", join(objects, "crds"));
  for (const file of files) {
    const applying = run("kubectl", ["apply", "--filename", "-"]);
    applying.child.stdin?.end(readFileSync(join(objects, `${file}.yaml`), "utf8").replaceAll(/ko:\/\/\S+/g, image));
    await applying;
  }
  const waited = ["rollout", "status", "deployment/agent-sandbox-controller", "--timeout=5m"];
  await kubectl(...waited, "--namespace", "agent-sandbox-system");
}

/** A release of the chart in its own namespace. */
export class Release {
  readonly namespace: string;
  /** Of the pods of its sessions. */
  readonly sessions: string;

  constructor(namespace: string, sessions = namespace) {
    this.namespace = namespace;
    this.sessions = sessions;
  }

  /** Installs or upgrades it. */
  async start(values: object, ...options: readonly string[]): Promise<void> {
    const given = ["--values", "-", "--namespace", this.namespace, "--create-namespace", ...options];
    const installing = run("helm", ["upgrade", "--install", "shoal", chart, ...given], { timeout: 12 * minutes });
    installing.child.stdin?.end(JSON.stringify(values));
    await installing;
  }

  /** Installs or upgrades it, and waits until its servers are ready. */
  async apply(values: object): Promise<void> {
    try {
      await this.start(values, "--wait", "--timeout", "10m");
    } catch (error) {
      throw new Error(`${String(error)}\n${await this.describe()}`, { cause: error });
    }
  }

  async test(): Promise<string> {
    return (await run("helm", ["test", "shoal", "--namespace", this.namespace], { timeout: 5 * minutes })).stdout;
  }

  async uninstall(): Promise<void> {
    await run("helm", ["uninstall", "shoal", "--namespace", this.namespace, "--wait"], { timeout: 5 * minutes });
  }

  /** Its servers, for the report of a failure. */
  async describe(): Promise<string> {
    const selected = ["--namespace", this.namespace, "--selector", "shoal.dev/part=server"];
    const parts = [
      kubectl("describe", "pods", ...selected),
      kubectl("logs", ...selected, "--tail=50", "--prefix"),
      kubectl("get", "events", "--namespace", this.namespace),
    ];
    return (await Promise.allSettled(parts))
      .map((part) => (part.status === "fulfilled" ? part.value : String(part.reason)))
      .join("\n");
  }

  async pods(part: "server" | "session"): Promise<readonly Pod[]> {
    const namespace = part === "server" ? this.namespace : this.sessions;
    const found = await kubectl(
      "get",
      "pods",
      "--namespace",
      namespace,
      "--selector",
      `shoal.dev/part=${part}`,
      "--output=json",
    );
    return (JSON.parse(found) as { readonly items: readonly Pod[] }).items;
  }

  /** The names of the pods of sessions that the cluster still has. */
  async sessionPods(): Promise<readonly string[]> {
    return (await this.pods("session")).map(({ metadata }) => metadata.name);
  }

  /** As `kubectl drain`. */
  async evict(name: string): Promise<void> {
    const path = `/api/v1/namespaces/${this.sessions}/pods/${name}/eviction`;
    const evicting = run("kubectl", ["create", "--raw", path, "--filename", "-"]);
    const metadata = { name, namespace: this.sessions };
    evicting.child.stdin?.end(JSON.stringify({ apiVersion: "policy/v1", kind: "Eviction", metadata }));
    await evicting;
  }

  /** A client with the admin key, through the Service of the release. */
  async connect(): Promise<{ readonly shoal: Shoal; readonly baseUrl: string; readonly apiKey: string }> {
    const key = await kubectl(
      "exec",
      "--namespace",
      this.namespace,
      "shoal-0",
      "--",
      "cat",
      "/var/lib/shoal/admin-key.json",
    );
    const { api_key: apiKey } = JSON.parse(key) as { readonly api_key: string };
    const address = await kubectl(
      "get",
      "service",
      "shoal",
      "--namespace",
      this.namespace,
      "--output=jsonpath={.spec.clusterIP}",
    );
    const baseUrl = `http://${address}:7777`;
    return { apiKey, baseUrl, shoal: new Shoal({ apiKey, baseUrl, timeoutMs: 4 * minutes, maxRetries: 0 }) };
  }

  /** Deletes the pod of its server. Returns when the next one serves `baseUrl`. */
  async replaceServer(baseUrl: string, ...options: readonly string[]): Promise<void> {
    const uids = async (): Promise<readonly string[]> =>
      (await this.pods("server")).map(({ metadata }) => metadata.uid);
    const [old] = await uids();
    await kubectl("delete", "pod", "shoal-0", "--namespace", this.namespace, ...options);
    await until("another pod of the server", async () => (await uids()).some((uid) => uid !== old));
    await this.ready(baseUrl);
  }

  /** Ends the process of its server without a warning. Returns when the restarted container serves `baseUrl`. */
  async killServer(baseUrl: string): Promise<void> {
    const pod = ["shoal-0", "--namespace", this.namespace];
    const restarts = (): Promise<string> =>
      kubectl("get", "pod", ...pod, "--output=jsonpath={.status.containerStatuses[0].restartCount}");
    const before = await restarts();
    await kubectl("exec", ...pod, "--", "sh", "-c", "kill -9 $(cat /proc/1/task/1/children)");
    await until("a restart of the server", async () => (await restarts()) !== before);
    await this.ready(baseUrl);
  }

  /** Waits until its sessions have no pods: of a killed server, they end after a minute, and are deleted a minute later. */
  async noSessionPods(): Promise<void> {
    await until("no pod of a session is left", async () => (await this.sessionPods()).length === 0, 4 * minutes);
  }

  /** Waits until a server is ready and answers. */
  async ready(baseUrl: string): Promise<void> {
    const isReady = ["--for=condition=Ready", "pod/shoal-0", "--namespace", this.namespace, "--timeout=5s"];
    await until("the service is ready", () => kubectl("wait", ...isReady).catch(() => false as const), 5 * minutes);
    await until("the service answers", () => isOk(`${baseUrl}/ready`));
  }
}

/** The service may lose a request while it starts. */
const requestMs = 5_000;

async function isOk(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(requestMs) })).ok;
  } catch {
    return false;
  }
}
