import { disableInspectorSignal } from "@shoal/instance";
import type { TlsIdentity } from "@shoal/primitives/pinned-tls";
import type { Box, BoxMaker, HostedProgram, Viewport } from "../boxes/box.ts";
import { type InstanceFiles, type InstanceFilesOptions, makeInstanceFiles } from "../boxes/instance-files.ts";
import { imageProgramFolder } from "../image/image-contents.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { type Cluster, ClusterError, explainAway } from "./cluster.ts";
import { checkTemplate, claimObject } from "./claims.ts";
import { type ClusterObject, type KindName, kinds } from "./objects.ts";
import type { PodImage } from "./examine-image.ts";
import { KubernetesBox } from "./kubernetes-box.ts";
import {
  instancePort,
  labels,
  labelsOf,
  type ObjectOptions,
  type PodOptions,
  podSpec,
  sessionObject,
} from "./pod-spec.ts";
import { hostBytes, hostedConfig, remoteConfig } from "../image/remote-config.ts";
import { messageOf } from "@shoal/primitives";

export interface KubernetesBoxMakerOptions extends InstanceFilesOptions {
  readonly cluster: Cluster;
  readonly image: PodImage;
  /** Names this server process in labels. */
  readonly server: string;
  readonly identity: TlsIdentity;
  /** Of the object that the service creates for a pod: the pod itself, or one of agent-sandbox. */
  readonly objects: KindName;
  /** For claims. */
  readonly warmPool: string | undefined;
  /** `NAME/UID` of the pod of this server. */
  readonly serverPod: string | undefined;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  readonly log: PlacementLog;
}

/** A dead man's switch of the cluster: the server moves it on while it lives. */
const shutdownAfterMs = 10 * 60_000;
const renewEveryMs = 3 * 60_000;
const removalGraceSeconds = 2;

interface Made {
  readonly object: ClusterObject;
  readonly objects: KindName;
}

interface Running {
  readonly box: KubernetesBox;
  readonly objects: KindName;
}

/** Starts each instance in a pod, by agent-sandbox if it is installed. Its only way out is a connection of the service. */
export class KubernetesBoxMaker implements BoxMaker {
  readonly kind = "kubernetes";
  readonly #options: KubernetesBoxMakerOptions;
  readonly #boxes = new Map<string, Running>();
  readonly #unfollow: readonly (() => void)[];
  readonly #renewal: NodeJS.Timeout;

  constructor(options: KubernetesBoxMakerOptions) {
    this.#options = options;
    const { cluster, objects, server } = options;
    const selector = `${labels.server}=${server},${labels.part}=session`;
    this.#unfollow = [
      cluster.follow("pods", selector, (pod, isGone) => {
        this.#boxOf(pod)?.podChanged(pod, isGone);
      }),
      ...(objects === "pods"
        ? []
        : [
            cluster.follow(objects, selector, (owner, isGone) => {
              this.#boxOf(owner)?.ownerChanged(owner, isGone);
            }),
          ]),
    ];
    this.#renewal = setInterval(() => void this.renew(), renewEveryMs);
    this.#renewal.unref();
  }

  async start(id: string, viewport: Viewport): Promise<Box> {
    const { cluster, image, warmPool } = this.#options;
    if (warmPool !== undefined)
      await checkTemplate({ cluster, warmPool, image: image.name, runtimeClass: image.runtimeClass }).catch(
        (error: unknown) => {
          throw explainAway(error);
        },
      );
    const files = await makeInstanceFiles(id, this.#options);
    return this.#run(id, files, this.#sessionOf(id, viewport)).catch(async (error: unknown) => {
      await files.clear();
      throw error;
    });
  }

  /** Also where sessions claim their pods, a program of an app gets a new one. */
  host(id: string, { copies, files, options }: HostedProgram): Promise<Box> {
    const { diskBytes, memoryBytes, scratch } = options;
    const { objects } = this.#options;
    const env = { SHOAL_PROGRAM: JSON.stringify(hostedConfig({ id, remote: this.#remote })) };
    const pod = { env, copies, diskBytes, scratch, memoryBytes: memoryBytes + hostBytes };
    return this.#run(id, files, this.#objectOf(id, objects === "sandboxclaims" ? "pods" : objects, pod));
  }

  async #run(id: string, files: InstanceFiles, { object, objects }: Made): Promise<Box> {
    const { cluster, identity, log } = this.#options;
    const name = nameOf(id);
    const box = new KubernetesBox(id, {
      cluster,
      name,
      files,
      identity,
      remove: () => cluster.remove(object, removalGraceSeconds),
      onGone: () => this.#boxes.delete(id),
      log,
    });
    // Before the object exists, so that no report is missed.
    this.#boxes.set(id, { box, objects });
    try {
      await cluster.create(ownedBy(this.#options.serverPod, object));
      return box;
    } catch (error) {
      this.#boxes.delete(id);
      await cluster.remove(object, removalGraceSeconds).catch(() => undefined);
      throw explainCreation(error);
    }
  }

  isRunning(id: string): boolean {
    return this.#boxes.has(id);
  }

  /** Moves the end of the sandboxes of this server. */
  async renew(): Promise<void> {
    const { cluster, log } = this.#options;
    const shutdownTime = this.#shutdownTime().toISOString();
    for (const [id, { objects }] of this.#boxes) {
      if (objects === "pods") continue;
      const spec = objects === "sandboxes" ? { shutdownTime } : { lifecycle: { shutdownTime } };
      try {
        const metadata = { name: nameOf(id), namespace: cluster.namespace };
        await cluster.merge({ ...kinds[objects], metadata, spec });
      } catch (error) {
        log.warn({ instance_id: id, error: messageOf(error) }, "Cannot renew the shutdown time of a sandbox.");
      }
    }
  }

  close(): void {
    clearInterval(this.#renewal);
    for (const unfollow of this.#unfollow) unfollow();
  }

  /** With a clock that was set back, agent-sandbox would delete running sandboxes. */
  #shutdownTime(): Date {
    return new Date(this.#options.cluster.now().latestMs + shutdownAfterMs);
  }

  #boxOf({ metadata }: ClusterObject): KubernetesBox | undefined {
    return this.#boxes.get(metadata?.labels?.[labels.instance] ?? "")?.box;
  }

  get #remote(): { readonly port: number; readonly service_pin: string } {
    return { port: instancePort, service_pin: this.#options.identity.pin };
  }

  #sessionOf(id: string, viewport: Viewport): Made {
    const { diskBytes, identity, image, memoryBytes, objects, warmPool } = this.#options;
    const shutdownTime = this.#shutdownTime();
    if (warmPool !== undefined)
      return { objects, object: claimObject({ ...this.#namesOf(id), warmPool, pin: identity.pin, shutdownTime }) };
    const config = remoteConfig({ id, viewport, contents: image.contents, remote: this.#remote });
    const env = { SHOAL_INSTANCE: JSON.stringify(config) };
    return this.#objectOf(id, objects, { env, memoryBytes, diskBytes });
  }

  #objectOf(id: string, objects: KindName, pod: Omit<PodOptions, "command" | "image" | "runtimeClass">): Made {
    const { image } = this.#options;
    const object = sessionObject({
      ...this.#namesOf(id),
      shutdownTime: objects === "pods" ? undefined : this.#shutdownTime(),
      spec: podSpec({
        ...pod,
        image: image.name,
        runtimeClass: image.runtimeClass,
        command: [image.contents.node, disableInspectorSignal, `${imageProgramFolder}/${image.programFile}`],
      }),
    });
    return { object, objects };
  }

  #namesOf(id: string): Pick<ObjectOptions, "labels" | "name" | "namespace"> {
    const { cluster, server } = this.#options;
    return { name: nameOf(id), namespace: cluster.namespace, labels: labelsOf(server, id) };
  }
}

function nameOf(id: string): string {
  return `shoal-${id}`;
}

/** A quota is a limit of the cluster's operator. */
function explainCreation(error: unknown): unknown {
  if (!(error instanceof ClusterError)) return error;
  const { message, status } = error;
  if (status === 403 && message.includes("exceeded quota"))
    return new PlacementError("no_capacity", `Kubernetes refuses another pod: ${message}`, { cause: error });
  return explainAway(error);
}

/** The cluster deletes the object after its owner, also when the server cannot: after an uninstallation or a lost node. */
function ownedBy(serverPod: string | undefined, object: ClusterObject): ClusterObject {
  if (serverPod === undefined) return object;
  const [name, uid] = serverPod.split("/");
  const owner = { apiVersion: "v1", kind: "Pod", name, uid };
  return { ...object, metadata: { ...object.metadata, ownerReferences: [owner] } };
}
