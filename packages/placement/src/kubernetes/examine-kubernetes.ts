import { instanceProgramPath } from "@shoal/instance";
import type { ImageContents } from "../image/image-contents.ts";
import type { KubernetesOptions } from "../interface/placement.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { openCluster } from "./create-pods.ts";
import { type ExamineOptions, examinePodImage } from "./examine-image.ts";
import type { KindName } from "./objects.ts";
import { randomBytes } from "node:crypto";

export type KubernetesReport =
  | {
      readonly works: true;
      readonly version: string;
      readonly namespace: string;
      /** What the service creates for each session; the last two belong to agent-sandbox. */
      readonly objects: KindName;
      readonly image: Pick<ImageContents, "innerSandbox" | "windows">;
    }
  | { readonly works: false; readonly reason: string };

const startMs = 60_000;

/** Runs a pod of the image. Takes the time of its start. Never rejects. */
export async function examineKubernetes(
  options: KubernetesOptions,
  limits: Pick<ExamineOptions, "closedWithinMs"> = {},
): Promise<KubernetesReport> {
  try {
    const { cluster, objects, version } = await openCluster(options);
    const { contents } = await examinePodImage(cluster, {
      image: options.image,
      runtimeClass: options.runtimeClass,
      programPath: instanceProgramPath,
      server: randomBytes(6).toString("hex"),
      closed: [cluster.address],
      startMs,
      ...limits,
    });
    return { works: true, version, namespace: cluster.namespace, objects, image: contents };
  } catch (error) {
    return { works: false, reason: PlacementError.isInstance(error) ? error.message : String(error) };
  }
}
