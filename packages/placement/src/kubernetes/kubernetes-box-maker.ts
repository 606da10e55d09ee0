import { disableInspectorSignal } from "@shoal/instance";
import type { TlsIdentity } from "@shoal/primitives/pinned-tls";
import type { Box, BoxMaker, Viewport } from "../boxes/box.ts";
import { type InstanceFilesOptions, makeInstanceFiles } from "../boxes/instance-files.ts";
import { imageProgramFolder } from "../image/image-contents.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import type { Cluster } from "./cluster.ts";
import { type ClusterObject, sandboxVersion } from "./objects.ts";
import type { PodImage } from "./examine-image.ts";
import { KubernetesBox } from "./kubernetes-box.ts";
import { instancePort, labels, labelsOf, podSpec, sessionObject, stateFolder } from "./pod-spec.ts";
import { remoteConfig } from "../image/remote-config.ts";
import { messageOf } from "@shoal/primitives";

export interface KubernetesBoxMakerOptions extends InstanceFilesOptions {
  readonly cluster: Cluster;
  readonly image: PodImage;
  /** Names this server process in labels. */
  readonly server: string;
  readonly identity: TlsIdentity;
  /** Whether agent-sandbox is installed. */
  readonly usesSandboxes: boolean;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  readonly log: PlacementLog;
}

/** A dead man's switch of the cluster: the server moves it on while it lives. */
const shutdownAfterMs = 10 * 60_000;
const renewEveryMs = 3 * 60_000;
const removalGraceSeconds = 2;

/** Starts each instance in a pod, by agent-sandbox if it is installed. Its only way out is a connection of the service. */
export class KubernetesBoxMaker implements BoxMaker {
  readonly kind = "kubernetes";
  readonly #options: KubernetesBoxMakerOptions;
  readonly #boxes = new Map<string, KubernetesBox>();
  readonly #unfollow: readonly (() => void)[];
  readonly #renewal: NodeJS.Timeout;

  constructor(options: KubernetesBoxMakerOptions) {
    this.#options = options;
    const { cluster, server, usesSandboxes } = options;
    const selector = `${labels.server}=${server},${labels.part}=session`;
    this.#unfollow = [
      cluster.follow("pods", selector, (pod, isGone) => {
        this.#boxOf(pod)?.podChanged(pod, isGone);
      }),
      ...(usesSandboxes
        ? [
            cluster.follow("sandboxes", selector, (sandbox, isGone) => {
              this.#boxOf(sandbox)?.sandboxChanged(sandbox, isGone);
            }),
          ]
        : []),
    ];
    this.#renewal = setInterval(() => void this.renew(), renewEveryMs);
    this.#renewal.unref();
  }

  async start(id: string, viewport: Viewport): Promise<Box> {
    const { cluster, identity, log } = this.#options;
    const files = await makeInstanceFiles(id, this.#options);
    const object = this.#objectOf(id, viewport);
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
    this.#boxes.set(id, box);
    try {
      await cluster.create(object);
      return box;
    } catch (error) {
      this.#boxes.delete(id);
      await cluster.remove(object, removalGraceSeconds).catch(() => undefined);
      await files.clear();
      throw error;
    }
  }

  /** Moves the end of the sandboxes of this server. */
  async renew(): Promise<void> {
    const { cluster, log, usesSandboxes } = this.#options;
    if (!usesSandboxes) return;
    const shutdownTime = new Date(Date.now() + shutdownAfterMs).toISOString();
    for (const id of this.#boxes.keys()) {
      try {
        const metadata = { name: nameOf(id), namespace: cluster.namespace };
        await cluster.merge({ apiVersion: sandboxVersion, kind: "Sandbox", metadata, spec: { shutdownTime } });
      } catch (error) {
        log.warn({ instance_id: id, error: messageOf(error) }, "Cannot renew the shutdown time of a sandbox.");
      }
    }
  }

  close(): void {
    clearInterval(this.#renewal);
    for (const unfollow of this.#unfollow) unfollow();
  }

  #boxOf({ metadata }: ClusterObject): KubernetesBox | undefined {
    return this.#boxes.get(metadata?.labels?.[labels.instance] ?? "");
  }

  #objectOf(id: string, viewport: Viewport): ClusterObject {
    const { cluster, diskBytes, identity, image, memoryBytes, server, usesSandboxes } = this.#options;
    const remote = { port: instancePort, service_pin: identity.pin };
    const config = remoteConfig({ id, viewport, contents: image.contents, remote, stateFolder });
    return sessionObject({
      name: nameOf(id),
      namespace: cluster.namespace,
      labels: labelsOf(server, id),
      shutdownTime: usesSandboxes ? new Date(Date.now() + shutdownAfterMs) : undefined,
      spec: podSpec({
        image: image.name,
        runtimeClass: image.runtimeClass,
        command: [image.contents.node, disableInspectorSignal, `${imageProgramFolder}/${image.programFile}`],
        env: { SHOAL_INSTANCE: JSON.stringify(config) },
        memoryBytes,
        diskBytes,
      }),
    });
  }
}

function nameOf(id: string): string {
  return `shoal-${id}`;
}
