import type {
  CoreV1Api,
  KubeConfig,
  KubernetesListObject,
  KubernetesObject,
  KubernetesObjectApi,
} from "@kubernetes/client-node";
import { errorOf, messageOf } from "@shoal/primitives";
import { PlacementError } from "../interface/placement-error.ts";
import { type ClusterObject, type KindName, kinds, type ObjectOf } from "./objects.ts";
import { PassThrough, type Readable } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";

/** The API server refused a request or did not answer. */
export class ClusterError extends Error {
  /** Of HTTP; `undefined` without an answer. */
  readonly status: number | undefined;

  constructor(message: string, status: number | undefined, cause?: unknown) {
    super(message, { cause });
    this.name = "ClusterError";
    this.status = status;
  }
}

/** Returns the error of a start: an API server that does not answer, or is overloaded, may answer later. */
export function explainAway(error: unknown): unknown {
  if (!(error instanceof ClusterError)) return error;
  const { message, status } = error;
  const isAway = status === undefined || status === 429 || status >= 500;
  return isAway ? new PlacementError("unavailable", message, { cause: error }) : error;
}

type Library = typeof import("@kubernetes/client-node");

/** Parameters before the label selector, or the strategy of a patch. */
const defaults = [undefined, undefined, undefined, undefined] as const;
const defaultPorts = { "http:": "80", "https:": "443" } as const;
/** What the library selects when it finds nothing. */
const libraryDefault = "http://localhost:8080";
const attempts = 5;
const firstRetryMs = 200;
/** No further try afterwards. */
const retryWithinMs = 5_000;
const passing: ReadonlySet<number | undefined> = new Set([undefined, 409, 429, 500, 502, 503, 504]);
const maxMessageCharacters = 500;
const restartWatchMs = 1_000;

/** One namespace of a cluster. Temporary failures are tried again. The API server is trusted, pods are not. */
export class Cluster {
  readonly namespace: string;
  readonly #config: KubeConfig;
  readonly #library: Library;
  readonly #objects: KubernetesObjectApi;
  readonly #core: CoreV1Api;
  /** What the API server called the time of the latest creation. */
  #time: { readonly serverMs: number; readonly atMs: number } | undefined;

  private constructor(library: Library, config: KubeConfig, namespace: string) {
    this.namespace = namespace;
    this.#library = library;
    this.#config = config;
    this.#objects = library.KubernetesObjectApi.makeApiClient(config);
    this.#core = config.makeApiClient(library.CoreV1Api);
  }

  /** The library takes a moment to load, so only this placement loads it. @throws for an unreadable kubeconfig. */
  static async open(kubeconfig: string | undefined, namespace: string | undefined): Promise<Cluster> {
    const library = await import("@kubernetes/client-node");
    const config = new library.KubeConfig();
    if (kubeconfig === undefined) config.loadFromDefault();
    else config.loadFromFile(kubeconfig);
    if (config.getCurrentCluster()?.server === libraryDefault)
      throw new Error("neither a kubeconfig nor the service account of a pod was found");
    const current = config.getContextObject(config.getCurrentContext())?.namespace;
    return new Cluster(library, config, namespace ?? current ?? "default");
  }

  /** Milliseconds since 1970, by the clocks of this machine and, once known, of the API server. One may be wrong. */
  now(): { readonly earliestMs: number; readonly latestMs: number } {
    const ownMs = Date.now();
    const serverMs = this.#time === undefined ? ownMs : this.#time.serverMs + performance.now() - this.#time.atMs;
    return { earliestMs: Math.min(ownMs, serverMs), latestMs: Math.max(ownMs, serverMs) };
  }

  /** `host:port` of the API server. */
  get address(): string {
    const { hostname, port, protocol } = new URL(this.#config.getCurrentCluster()?.server ?? "https://kubernetes");
    return `${hostname.replace(/^\[|\]$/g, "")}:${port === "" ? defaultPorts[protocol as "https:"] : port}`;
  }

  async version(): Promise<string> {
    const api = this.#config.makeApiClient(this.#library.VersionApi);
    return (await this.#try(() => api.getCode())).gitVersion;
  }

  /** Whether the API server knows a kind. */
  async serves(name: KindName): Promise<boolean> {
    try {
      await this.list(name, "shoal.dev/part=none");
      return true;
    } catch (error) {
      const isMissing =
        (error instanceof ClusterError && error.status === 404) || /unrecognized|404/i.test(messageOf(error));
      if (isMissing) return false;
      throw error;
    }
  }

  /** `undefined` if it does not exist. */
  async read(apiVersion: string, kind: string, name: string): Promise<ClusterObject | undefined> {
    try {
      const object = { apiVersion, kind, metadata: { name, namespace: this.namespace } };
      return await this.#try(() => this.#objects.read(object));
    } catch (error) {
      if (error instanceof ClusterError && error.status === 404) return undefined;
      throw error;
    }
  }

  /** A retry after a lost answer finds its own object. */
  async create(object: ClusterObject): Promise<void> {
    let isRetry = false;
    await this.#try(async () => {
      try {
        const { metadata } = await this.#objects.create(forLibrary(object));
        const serverMs = new Date(metadata?.creationTimestamp ?? "").getTime();
        if (!Number.isNaN(serverMs)) this.#time = { serverMs, atMs: performance.now() };
      } catch (error) {
        if (isRetry && statusOf(error) === 409) return;
        isRetry = true;
        throw error;
      }
    });
  }

  async merge(object: ClusterObject): Promise<void> {
    await this.#try(() => this.#objects.patch(forLibrary(object), ...defaults, this.#library.PatchStrategy.MergePatch));
  }

  /** Succeeds if it does not exist. */
  async remove(object: ClusterObject, graceSeconds: number): Promise<void> {
    try {
      await this.#try(() =>
        this.#objects.delete(forLibrary(object), undefined, undefined, graceSeconds, undefined, "Background"),
      );
    } catch (error) {
      if (!(error instanceof ClusterError) || error.status !== 404) throw error;
    }
  }

  async list<Name extends KindName>(name: Name, selector: string): Promise<readonly ObjectOf[Name][]> {
    return (await this.#try(this.#lister(name, selector))).items;
  }

  /** Needs Kubernetes 1.33. */
  async resize(pod: string, container: string, memory: string): Promise<void> {
    const { PatchStrategy, setHeaderOptions } = this.#library;
    const containers = [{ name: container, resources: { limits: { memory } } }];
    await this.#try(() =>
      this.#core.patchNamespacedPodResize(
        { name: pod, namespace: this.namespace, body: { spec: { containers } } },
        setHeaderOptions("Content-Type", PatchStrategy.StrategicMergePatch),
      ),
    );
  }

  /** What the container prints; ends with it, or when `signal` aborts. */
  logs(pod: string, container: string, signal: AbortSignal): Readable {
    const output = new PassThrough();
    // The library handles no errors of the answer, and an unhandled one would end the service.
    output.on("pipe", (source) => {
      source.on("error", (error: Error) => output.destroy(error));
    });
    const log = new this.#library.Log(this.#config);
    this.#try(() => log.log(this.namespace, pod, container, output, { follow: true })).then(
      (controller) => {
        const stop = (): void => {
          output.destroy();
          controller.abort();
        };
        if (signal.aborted) stop();
        else signal.addEventListener("abort", stop, { once: true });
      },
      (error: unknown) => output.destroy(errorOf(error)),
    );
    output.on("error", () => undefined);
    return output;
  }

  /** Follows objects with a label; a broken watch is opened again. Returns a function that ends it. */
  follow<Name extends KindName>(
    name: Name,
    selector: string,
    listener: (object: ObjectOf[Name], isGone: boolean) => void,
  ): () => void {
    const { apiVersion } = kinds[name];
    const root = apiVersion === "v1" ? "/api/v1" : `/apis/${apiVersion}`;
    const path = `${root}/namespaces/${encodeURIComponent(this.namespace)}/${name}`;
    const requests = new this.#library.Watch(this.#config);
    const open = requests.watch.bind(requests);
    let isOver = false;
    let timer: NodeJS.Timeout | undefined;
    // The library may open a request after its end, when it waited for a list or for its next try.
    requests.watch = async (...given) => {
      const request = await open(...given);
      if (isOver) request.abort();
      return request;
    };
    const watch = new this.#library.ListWatch<KubernetesObject>(
      path,
      requests,
      this.#lister(name, selector),
      false,
      selector,
      undefined,
      { delayFn: (milliseconds) => sleep(milliseconds, undefined, { ref: false }) },
    );
    watch.on("change", (object) => {
      if (!isOver) listener(object, false);
    });
    watch.on("delete", (object) => {
      if (!isOver) listener(object, true);
    });
    watch.on("error", () => {
      // The end of the request is an error, too.
      if (!isOver) timer = setTimeout(() => void watch.start(), restartWatchMs);
    });
    void watch.start();
    return () => {
      isOver = true;
      clearTimeout(timer);
      void watch.stop();
    };
  }

  #lister(name: KindName, selector: string): () => Promise<KubernetesListObject<KubernetesObject>> {
    if (name === "pods")
      return () => this.#core.listNamespacedPod({ namespace: this.namespace, labelSelector: selector });
    const { apiVersion, kind } = kinds[name];
    return () => this.#objects.list(apiVersion, kind, this.namespace, ...defaults, selector);
  }

  async #try<T>(send: () => Promise<T>): Promise<T> {
    const lastMs = performance.now() + retryWithinMs;
    for (let attempt = 1, delayMs = firstRetryMs; ; attempt++, delayMs *= 2) {
      try {
        return await send();
      } catch (error) {
        const status = statusOf(error);
        const isLast = attempt === attempts || performance.now() > lastMs;
        if (isLast || !passing.has(status) || isConflictForGood(error))
          throw new ClusterError(reasonOf(error), status, error);
        await sleep(delayMs * (0.5 + Math.random()));
      }
    }
  }
}

/** The library's `ApiException`, which is loaded late. */
function isAnswer(error: unknown): error is Error & { readonly code: number; readonly body: unknown } {
  return error instanceof Error && "code" in error && typeof error.code === "number" && "body" in error;
}

function forLibrary(object: ClusterObject): KubernetesObject {
  return object as unknown as KubernetesObject;
}

function statusOf(error: unknown): number | undefined {
  return isAnswer(error) ? error.code : undefined;
}

function isConflictForGood(error: unknown): boolean {
  return /already exists/i.test(reasonOf(error));
}

/** The `message` of the API server's Status, without the rest of the answer. */
function reasonOf(error: unknown): string {
  if (!isAnswer(error)) return `the API server does not answer: ${causeOf(error)}`;
  const { body } = error;
  return (messageIn(body) ?? `status ${String(error.code)}`).slice(0, maxMessageCharacters);
}

/** `fetch failed` says nothing; its cause does. */
function causeOf(error: unknown): string {
  const { cause } = error instanceof Error ? error : {};
  if (cause instanceof AggregateError) return cause.errors.map(messageOf).join(", ");
  return messageOf(cause instanceof Error && cause.message !== "" ? cause : error).replace(/(?<!\.)\.+$/, "");
}

function messageIn(body: unknown): string | undefined {
  if (typeof body === "string") {
    try {
      return messageIn(JSON.parse(body));
    } catch {
      return body;
    }
  }
  if (typeof body !== "object" || body === null || !("message" in body)) return undefined;
  return typeof body.message === "string" ? body.message : undefined;
}
