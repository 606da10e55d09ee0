import { TlsIdentity } from "@shoal/primitives/pinned-tls";
import type { InstanceFilesOptions } from "../boxes/instance-files.ts";
import type { ImageContents } from "../image/image-contents.ts";
import type { KubernetesOptions } from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import type { PlacementLog } from "../interface/placement-log.ts";
import { checkTemplate } from "./claims.ts";
import { Cluster, ClusterError } from "./cluster.ts";
import { examinePodImage } from "./examine-image.ts";
import { KubernetesBoxMaker } from "./kubernetes-box-maker.ts";
import { removeLeftovers } from "./leftovers.ts";
import { extensionsVersion, type KindName } from "./objects.ts";
import { messageOf } from "@shoal/primitives";
import { randomBytes } from "node:crypto";

export interface PodsOptions extends InstanceFilesOptions {
  readonly kubernetes: KubernetesOptions | undefined;
  readonly programPath: string;
  readonly closed: readonly string[] | undefined;
  readonly startMs: number;
  readonly memoryBytes: number | undefined;
  readonly diskBytes: number | undefined;
  readonly log: PlacementLog;
}

export interface Pods {
  readonly maker: KubernetesBoxMaker;
  readonly contents: ImageContents;
  readonly close: () => Promise<void>;
}

export interface OpenCluster {
  readonly cluster: Cluster;
  readonly version: string;
  /** What the service creates for each session. */
  readonly objects: KindName;
}

const sweepEveryMs = 60_000;

/** @throws {PlacementError} `bad_option` if the cluster does not answer or the image does not work; `no_isolation`. */
export async function createPods(options: PodsOptions): Promise<Pods> {
  const { closed, diskBytes, folders, gateway, kubernetes, log, memoryBytes, policy, programPath, startMs } = options;
  if (kubernetes === undefined)
    throw new PlacementError("bad_option", "kubernetes: the kind kubernetes needs an image.");
  const { cluster, objects, version } = await openCluster(kubernetes);
  const server = randomBytes(6).toString("hex");
  await removeLeftovers(cluster, { objects, log, isRunning: () => false });
  const image = await examinePodImage(cluster, {
    image: kubernetes.image,
    runtimeClass: kubernetes.runtimeClass,
    programPath,
    server,
    closed: closed ?? [cluster.address],
    startMs,
  });
  const maker = new KubernetesBoxMaker({
    ...{ folders, gateway, policy, cluster, image, server, objects, memoryBytes, diskBytes, log },
    warmPool: kubernetes.warmPool,
    serverPod: kubernetes.serverPod,
    identity: new TlsIdentity("shoal"),
  });
  const isRunning = (id: string): boolean => maker.isRunning(id);
  const timer = setInterval(() => void removeLeftovers(cluster, { objects, log, isRunning }), sweepEveryMs);
  timer.unref();
  log.info(
    {
      kubernetes_version: version,
      namespace: cluster.namespace,
      image: kubernetes.image,
      agent_sandbox: objects !== "pods",
      ...(kubernetes.warmPool !== undefined && { warm_pool: kubernetes.warmPool }),
      inner_sandbox: image.contents.innerSandbox,
      network_closed_after_ms: image.closedAfterMs,
    },
    "Each session runs in a pod.",
  );
  return {
    maker,
    contents: image.contents,
    close: () => {
      clearInterval(timer);
      maker.close();
      return Promise.resolve();
    },
  };
}

/** @throws {PlacementError} `bad_option` if the API server does not answer, or has no usable warm pool. */
export async function openCluster({
  image,
  kubeconfig,
  namespace,
  runtimeClass,
  warmPool,
}: KubernetesOptions): Promise<OpenCluster> {
  try {
    const cluster = await Cluster.open(kubeconfig, namespace);
    const version = await cluster.version();
    if (warmPool === undefined)
      return { cluster, version, objects: (await cluster.serves("sandboxes")) ? "sandboxes" : "pods" };
    if (!(await cluster.serves("sandboxclaims")))
      throw new PlacementError(
        "bad_option",
        `kubernetes_warm_pool: the cluster has no SandboxClaim of ${extensionsVersion}. Install agent-sandbox with its extensions, or remove the setting.`,
      );
    await checkTemplate({ cluster, warmPool, image, runtimeClass });
    return { cluster, version, objects: "sandboxclaims" };
  } catch (error) {
    if (PlacementError.isInstance(error)) throw error;
    throw new PlacementError(
      "bad_option",
      `kubernetes: ${whyUnusable(error, warmPool === undefined ? "kubernetes.yaml" : "kubernetes-claims.yaml")}`,
      { cause: error },
    );
  }
}

/** @param manifests - the file in `docs/service` with the rights. */
function whyUnusable(error: unknown, manifests: string): string {
  const { status } = error instanceof ClusterError ? error : {};
  if (status === 403)
    return `the service account lacks a right (${messageOf(error)}). It needs the Role of docs/service/${manifests}, or of the chart, in the namespace of the sessions.`;
  if (status === 401)
    return `the API server does not accept the credentials of the service (${messageOf(error)}). Check the kubeconfig, or the service account of the pod.`;
  return `no usable API server (${messageOf(error)}). Check the address and the certificate in the kubeconfig.`;
}
