import { instanceProgramPath } from "@shoal/instance";
import { certificate, certificateKey } from "./certificate.ts";
import { instancePort } from "../kubernetes/pod-spec.ts";
import { FakeClaims } from "./fake-claims.ts";
import { claimManifests, type FakeObject, fits, manifestOf, manifests, merged, type Rule } from "./fake-objects.ts";
import { type FakePodSpec, type RunningPod, runPod } from "./fake-node.ts";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import { type AddressInfo, connect, createServer as createTcpServer } from "node:net";
import { text } from "node:stream/consumers";

interface Event {
  readonly version: number;
  readonly kind: Kind;
  readonly type: "ADDED" | "MODIFIED" | "DELETED";
  readonly object: FakeObject;
}

const core = "v1";
const agents = "agents.x-k8s.io/v1beta1";
const extensions = "extensions.agents.x-k8s.io/v1beta1";
const kinds = {
  pods: { group: core, kind: "Pod" },
  sandboxes: { group: agents, kind: "Sandbox" },
  sandboxclaims: { group: extensions, kind: "SandboxClaim" },
  sandboxtemplates: { group: extensions, kind: "SandboxTemplate" },
  sandboxwarmpools: { group: extensions, kind: "SandboxWarmPool" },
} as const;
export type Kind = keyof typeof kinds;
const token = "fake-token";
/** Of all clusters of this process. */
let pods = 0;

/** What the next pods do in place of running. */
export type PodFate = "runs" | "unschedulable" | "image missing" | "never ready";

/**
 * An API server with the controllers of agent-sandbox and one node, which runs pods as local processes. It serves what the
 * service uses: create, get, list, watch, merge patch, delete, logs and resize. It grants the verbs of the role in
 * `docs/service/kubernetes.yaml`, or with claims in `docs/service/kubernetes-claims.yaml`, and no others.
 */
export class FakeCluster {
  fate: PodFate = "runs";
  /** A resource for which the service account has no rights. */
  withheld: string | undefined;
  /** Refuses the creation of pods and sandboxes. */
  quota: string | undefined;
  /** Statuses of the next requests that change something. */
  readonly failures: number[] = [];
  readonly resized: string[] = [];
  programPath = instanceProgramPath;
  /** `host:port` of the API server in the environment of pods; none by default, since pods use the host's network. */
  addressForPods: string | undefined;
  /** Whether the NetworkPolicy is enforced: for the pods that probe it. Servers reach pods of sessions over the host's network. */
  hasPolicy = false;
  /** Milliseconds in which the network refuses connections to a new pod. */
  unreachableMs: number | undefined;
  readonly #server: Server;
  readonly #groups: ReadonlySet<string>;
  readonly #rules: readonly Rule[];
  readonly #objects = Object.fromEntries(Object.keys(kinds).map((name) => [name, new Map()])) as Record<
    Kind,
    Map<string, FakeObject>
  >;
  readonly #claims: FakeClaims;
  readonly #running = new Map<string, RunningPod>();
  readonly #watches = new Set<{ readonly kind: Kind; readonly selector: string; readonly response: ServerResponse }>();
  #events: Event[] = [];
  #oldest = 0;
  #version = 1;

  private constructor({ claims = false, sandboxes = true }: FakeClusterOptions) {
    this.#groups = new Set([core, ...(sandboxes || claims ? [agents] : []), ...(claims ? [extensions] : [])]);
    this.#rules = manifestOf("Role", claims ? claimManifests : manifests).rules ?? [];
    this.#claims = new FakeClaims(this);
    this.#server = createServer({ cert: certificate, key: certificateKey }, (request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        refuse(response, 500, String(error));
      });
    });
  }

  static async start(options: FakeClusterOptions = {}): Promise<FakeCluster> {
    const cluster = new FakeCluster(options);
    await once(cluster.#server.listen(0, "127.0.0.1"), "listening");
    if (options.claims === true) {
      cluster.put("sandboxtemplates", manifestOf("SandboxTemplate", claimManifests));
      const pool = manifestOf("SandboxWarmPool", claimManifests);
      cluster.put("sandboxwarmpools", { ...pool, spec: { ...pool.spec, replicas: options.waitingPods ?? 0 } });
      cluster.#claims.fillPools();
    }
    return cluster;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get kubeconfig(): string {
    return JSON.stringify({
      apiVersion: "v1",
      kind: "Config",
      "current-context": "fake",
      contexts: [{ name: "fake", context: { cluster: "fake", user: "fake", namespace: "browsers" } }],
      clusters: [
        {
          name: "fake",
          cluster: {
            server: `https://127.0.0.1:${String(this.port)}`,
            "certificate-authority-data": Buffer.from(certificate).toString("base64"),
          },
        },
      ],
      users: [{ name: "fake", user: { token } }],
    });
  }

  /** Open watches. */
  get watches(): number {
    return this.#watches.size;
  }

  /** Refuses connections from now on, and breaks open ones. */
  vanish(): void {
    this.#server.close();
    this.#server.closeAllConnections();
  }

  objects(kind: Kind): readonly FakeObject[] {
    return [...this.#objects[kind].values()];
  }

  find(kind: Kind, name: string): FakeObject | undefined {
    return this.#objects[kind].get(name);
  }

  put(kind: Kind, object: FakeObject): void {
    this.#change(kind, this.#objects[kind].has(object.metadata.name) ? "MODIFIED" : "ADDED", object);
  }

  /** Starts its pod, as the controller of agent-sandbox. */
  startSandbox(sandbox: FakeObject): void {
    this.put("sandboxes", sandbox);
    this.#control(sandbox);
  }

  /** Changes the labels and annotations of a pod, also for its program. */
  relabel(name: string, metadata: Pick<FakeObject["metadata"], "annotations" | "labels">): void {
    const pod = this.#objects.pods.get(name);
    if (pod === undefined) return;
    this.#running.get(name)?.annotate(metadata.annotations ?? {});
    this.#change("pods", "MODIFIED", { ...pod, metadata: { ...pod.metadata, ...metadata } });
  }

  /** Breaks all watches. With `forgets`, their resource versions are too old to continue. */
  dropWatches(forgets: boolean): void {
    if (forgets) {
      this.#events = [];
      this.#oldest = this.#version;
    }
    for (const { response } of this.#watches) response.destroy();
  }

  evict(name: string): void {
    this.#finish(name, 137, { reason: "Evicted", message: "The node was low on resource: memory." });
    this.#running.get(name)?.kill();
  }

  /** Ends the programs of a pod, long ago. */
  finish(name: string): void {
    this.#finish(name, 0, {}, new Date(Date.now() - 3_600_000));
    this.#running.get(name)?.kill();
  }

  /** As `kubectl delete`, and with a reason as a drain or a preemption. */
  deletePod(name: string, disruption?: { readonly reason: string; readonly message: string }): void {
    const pod = this.#objects.pods.get(name);
    if (pod === undefined) return;
    const conditions = disruption && [{ type: "DisruptionTarget", status: "True", ...disruption }];
    const metadata = { ...pod.metadata, deletionTimestamp: new Date().toISOString() };
    this.#change("pods", "MODIFIED", { ...pod, metadata, status: { ...pod.status, conditions } });
    const running = this.#running.get(name);
    running?.terminate();
    void Promise.resolve(running?.ended).then(() => {
      this.remove("pods", name);
    });
  }

  async close(): Promise<void> {
    for (const pod of this.#running.values()) pod.kill();
    await Promise.all([...this.#running.values()].map(({ ended }) => ended));
    this.#server.close();
    this.#server.closeAllConnections();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "https://cluster");
    if (request.headers.authorization !== `Bearer ${token}`) {
      refuse(response, 401, "Unauthorized");
      return;
    }
    const method = request.method ?? "GET";
    const failure = method === "GET" ? undefined : this.failures.shift();
    if (failure !== undefined) {
      refuse(response, failure, "try again");
      return;
    }
    const found = /^(?:\/api\/|\/apis\/)([^?]+)\/namespaces\/browsers\/([a-z]+)(?:\/([^/]+))?(?:\/(log|resize))?$/.exec(
      url.pathname,
    );
    const [, group = "", kind = "", name, part] = found ?? [];
    if (!isKind(kind) || kinds[kind].group !== group) {
      this.#discover(url.pathname, response);
      return;
    }
    const verb = verbOf(method, name, url.searchParams);
    const resource = part === undefined ? kind : `${kind}/${part}`;
    if (!this.#groups.has(group)) refuse(response, 404, "not found");
    else if (
      this.withheld === resource ||
      !this.#rules.some(({ resources, verbs }) => resources.includes(resource) && verbs.includes(verb))
    )
      refuse(response, 403, `the service account may not ${method} ${url.pathname}`);
    else if (part === "log") this.#log(name ?? "", response);
    else if (name !== undefined) await this.#one(kind, name, part, { request, response });
    else if (method === "POST") this.#create(kind, JSON.parse(await text(request)) as FakeObject, response);
    else if (url.searchParams.get("watch") === "true") this.#watch(kind, url.searchParams, response);
    else this.#list(kind, url.searchParams.get("labelSelector") ?? "", response);
  }

  #discover(path: string, response: ServerResponse): void {
    const group = /^\/apis?\/(.+)$/.exec(path)?.[1] ?? "";
    const resources = Object.entries(kinds)
      .filter(([, each]) => each.group === group)
      .map(([name, { kind }]) => ({ name, kind, namespaced: true, singularName: "", verbs: [] }));
    if (/^\/version\/?$/.test(path)) answer(response, 200, { gitVersion: "v1.34.0", major: "1", minor: "34" });
    else if (this.#groups.has(group)) answer(response, 200, { groupVersion: group, resources });
    else refuse(response, 404, "the server could not find the requested resource");
  }

  async #one(
    kind: Kind,
    name: string,
    part: string | undefined,
    { request, response }: { readonly request: IncomingMessage; readonly response: ServerResponse },
  ): Promise<void> {
    const object = this.#objects[kind].get(name);
    if (object === undefined) {
      refuse(response, 404, `${kind} "${name}" not found`);
      return;
    }
    if (request.method === "PATCH") {
      const patch = JSON.parse(await text(request)) as FakeObject;
      if (part === "resize") this.resized.push(JSON.stringify(patch.spec));
      else this.#change(kind, "MODIFIED", merged(object, patch) as FakeObject);
    } else if (request.method === "DELETE") this.remove(kind, name);
    answer(response, 200, object);
  }

  #create(kind: Kind, object: FakeObject, response: ServerResponse): void {
    const { name } = object.metadata;
    if (this.quota !== undefined)
      refuse(response, 403, `${kind} "${name}" is forbidden: exceeded quota: ${this.quota}`);
    else if (this.#objects[kind].has(name)) refuse(response, 409, `${kind} "${name}" already exists`);
    else {
      const made = { ...object, metadata: { ...object.metadata, creationTimestamp: new Date().toISOString() } };
      answer(response, 201, made);
      this.#change(kind, "ADDED", made);
      if (kind === "pods") this.#schedule(made);
      else if (kind === "sandboxes") this.#control(made);
      else if (kind === "sandboxclaims") this.#claims.claimed(made);
    }
  }

  /** The controller of agent-sandbox. */
  #control({ metadata, spec }: FakeObject): void {
    const { podTemplate } = spec as { podTemplate: { metadata: object; spec: object } };
    const { name, namespace } = metadata;
    const pod: FakeObject = {
      apiVersion: "v1",
      kind: "Pod",
      metadata: {
        name,
        namespace: namespace ?? "",
        ...podTemplate.metadata,
        creationTimestamp: new Date().toISOString(),
      },
      spec: podTemplate.spec as Record<string, unknown>,
    };
    this.#change("pods", "ADDED", pod);
    this.#schedule(pod);
  }

  #schedule(pod: FakeObject): void {
    const { name } = pod.metadata;
    if (this.fate === "never ready") return;
    if (this.fate === "unschedulable") {
      const message = "0/3 nodes are available: 3 Insufficient memory.";
      const conditions = [{ type: "PodScheduled", status: "False", reason: "Unschedulable", message }];
      this.#setStatus(name, { phase: "Pending", conditions });
      return;
    }
    if (this.fate === "image missing") {
      const waiting = { reason: "ImagePullBackOff", message: 'Back-off pulling image "shoal"' };
      this.#setStatus(name, { phase: "Pending", containerStatuses: [{ name: "instance", state: { waiting } }] });
      return;
    }
    pods += 1;
    const podIP = addressOf(pods, 1);
    const isHidden = this.unreachableMs !== undefined;
    const hiddenIP = addressOf(pods, 65);
    const running = runPod(pod.spec as unknown as FakePodSpec, {
      address: isHidden ? hiddenIP : podIP,
      apiServer: this.addressForPods,
      isClosed: this.hasPolicy && name.startsWith("shoal-probe-"),
      programPath: this.programPath,
    });
    this.#running.set(name, running);
    running.annotate(pod.metadata.annotations ?? {});
    const containerStatuses = [{ name: "instance", state: { running: {} } }];
    this.#setStatus(name, { phase: "Running", podIP, containerStatuses });
    const link = isHidden ? linkLater(podIP, hiddenIP, this.unreachableMs) : undefined;
    void running.ended.then((code) => {
      link?.close();
      this.#finish(name, code, {});
    });
  }

  #finish(name: string, exitCode: number, status: object, at = new Date()): void {
    const pod = this.#objects.pods.get(name);
    if (pod === undefined || pod.status?.phase === "Failed" || pod.status?.phase === "Succeeded") return;
    const terminated = { exitCode, finishedAt: at.toISOString() };
    const containerStatuses = [{ name: "instance", state: { terminated } }];
    this.#setStatus(name, {
      ...pod.status,
      ...status,
      phase: exitCode === 0 ? "Succeeded" : "Failed",
      containerStatuses,
    });
  }

  #setStatus(name: string, status: Record<string, unknown>): void {
    const pod = this.#objects.pods.get(name);
    if (pod !== undefined) this.#change("pods", "MODIFIED", { ...pod, status });
  }

  remove(kind: Kind, name: string): void {
    const object = this.#objects[kind].get(name);
    if (object === undefined) return;
    if (kind !== "pods") {
      this.#change(kind, "DELETED", object);
      if (kind === "sandboxes") this.remove("pods", name);
      else if (kind === "sandboxclaims") this.remove("sandboxes", FakeClaims.sandboxOf(object));
      return;
    }
    const running = this.#running.get(name);
    running?.kill();
    // As a kubelet: the object goes when its processes have ended.
    void Promise.resolve(running?.ended).then(() => {
      this.#running.delete(name);
      const last = this.#objects.pods.get(name);
      if (last !== undefined) this.#change("pods", "DELETED", last);
    });
  }

  #change(kind: Kind, type: Event["type"], object: FakeObject): void {
    const version = ++this.#version;
    const changed = { ...object, metadata: { ...object.metadata, resourceVersion: String(version) } };
    if (type === "DELETED") this.#objects[kind].delete(object.metadata.name);
    else this.#objects[kind].set(object.metadata.name, changed);
    const event: Event = { version, kind, type, object: changed };
    this.#events.push(event);
    for (const watch of this.#watches)
      if (watch.kind === kind && fits(changed, watch.selector)) watch.response.write(lineOf(event));
  }

  #list(kind: Kind, selector: string, response: ServerResponse): void {
    const items = this.objects(kind).filter((object) => fits(object, selector));
    const metadata = { resourceVersion: String(this.#version) };
    answer(response, 200, { apiVersion: "v1", kind: `${kinds[kind].kind}List`, metadata, items });
  }

  #watch(kind: Kind, query: URLSearchParams, response: ServerResponse): void {
    const since = Number(query.get("resourceVersion"));
    const selector = query.get("labelSelector") ?? "";
    response.writeHead(200, { "content-type": "application/json" });
    response.flushHeaders();
    if (since < this.#oldest) {
      const object = { kind: "Status", code: 410, reason: "Expired", message: "too old resource version" };
      response.end(`${JSON.stringify({ type: "ERROR", object })}\n`);
      return;
    }
    const bookmark = { kind: kinds[kind].kind, metadata: { resourceVersion: String(since) } };
    response.write(`${JSON.stringify({ type: "BOOKMARK", object: bookmark })}\n`);
    for (const event of this.#events)
      if (event.kind === kind && event.version > since && fits(event.object, selector)) response.write(lineOf(event));
    const watch = { kind, selector, response };
    this.#watches.add(watch);
    response.on("close", () => this.#watches.delete(watch));
  }

  #log(name: string, response: ServerResponse): void {
    const running = this.#running.get(name);
    if (running === undefined) {
      refuse(response, 404, `pods "${name}" not found`);
      return;
    }
    response.writeHead(200, { "content-type": "text/plain" }).write(running.output());
    running.onOutput((piece) => response.write(piece));
    void running.ended.then(() => response.end());
  }
}

export interface FakeClusterOptions {
  /** Whether agent-sandbox is installed. */
  readonly sandboxes?: boolean;
  /** Whether its extensions are, with the template and the warm pool of the chart. */
  readonly claims?: boolean;
  /** Of the warm pool; none by default. */
  readonly waitingPods?: number;
}

/** Pods listen on a fixed port, so that each process has other addresses. */
function addressOf(pod: number, first: number): string {
  return `127.${String(first + ((process.pid >> 8) & 63))}.${String(process.pid & 255)}.${String(1 + (pod % 254))}`;
}

/** Forwards connections to a pod, after a moment. */
function linkLater(from: string, to: string, afterMs = 0): { close(): void } {
  const server = createTcpServer((outer) => {
    const inner = connect(instancePort, to);
    inner.on("error", () => outer.destroy()).pipe(outer);
    outer.on("error", () => inner.destroy()).pipe(inner);
  });
  const timer = setTimeout(() => server.listen(instancePort, from), afterMs);
  return {
    close: () => {
      clearTimeout(timer);
      server.close();
    },
  };
}

function isKind(name: string): name is Kind {
  return name in kinds;
}

function verbOf(method: string, name: string | undefined, query: URLSearchParams): string {
  if (method === "GET") return name !== undefined ? "get" : query.get("watch") === "true" ? "watch" : "list";
  return { POST: "create", PATCH: "patch", DELETE: "delete" }[method] ?? method;
}

function lineOf({ object, type }: Event): string {
  return `${JSON.stringify({ type, object })}\n`;
}

function answer(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
}

function refuse(response: ServerResponse, code: number, message: string): void {
  answer(response, code, { kind: "Status", apiVersion: "v1", status: "Failure", code, message });
}
