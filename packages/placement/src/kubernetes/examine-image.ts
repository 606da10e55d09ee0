import { contentsOf, type ImageContents, imageProgramFolder } from "../image/image-contents.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { checkProgram, imageReportCommand, RemoteImageReport } from "../image/image-report.ts";
import { answerText } from "../streams/answer-text.ts";
import type { Cluster } from "./cluster.ts";
import { containerName, labels, labelsOf, podSpec, sessionObject } from "./pod-spec.ts";
import { deletionReason, podState } from "./pod-state.ts";
import { messageOf } from "@shoal/primitives";
import { randomBytes } from "node:crypto";
import { basename } from "node:path";

export interface PodImage {
  /** Milliseconds that the network plugin needed to close the network of the examined pod. */
  readonly closedAfterMs: number;
  readonly name: string;
  readonly runtimeClass: string | undefined;
  readonly contents: ImageContents;
  /** Name in {@link imageProgramFolder}. */
  readonly programFile: string;
}

export interface ExamineOptions {
  readonly image: string;
  readonly runtimeClass: string | undefined;
  /** Instance program of this server. */
  readonly programPath: string;
  readonly server: string;
  /** `host:port` that pods of sessions must not reach. */
  readonly closed: readonly string[];
  /** Milliseconds to pull the image and to find a node. */
  readonly startMs: number;
  /** Milliseconds in which the network plugin must close the network of a new pod; 10,000 by default. */
  readonly closedWithinMs?: number;
}

const maxReportBytes = 65_536;
const usuallyClosedWithinMs = 10_000;

/**
 * Runs a pod of the image with the options of a session.
 * @throws {PlacementError} `bad_option` if it cannot start or lacks a part; `no_isolation` if it reaches the network.
 */
export async function examinePodImage(cluster: Cluster, options: ExamineOptions): Promise<PodImage> {
  const { closed, closedWithinMs = usuallyClosedWithinMs, image, programPath, runtimeClass } = options;
  const programFile = basename(programPath);
  const command = imageReportCommand(`${imageProgramFolder}/${programFile}`, closed, closedWithinMs);
  const report = parse(await runOnce(cluster, command, options));
  const { closed_after_ms: closedAfterMs, reached } = report;
  if (reached.length > 0)
    throw new PlacementError(
      "no_isolation",
      `Pods of sessions reach ${reached.join(", ")}, also ${String(closedAfterMs / 1000)} s after their start, and must have no network. Install the NetworkPolicy of docs/service/kubernetes.yaml, and a network plugin that enforces policies.`,
    );
  await checkProgram(report, programPath, `kubernetes_image: ${image}`);
  const contents = contentsOf(report, `kubernetes_image: ${image}`);
  return { name: image, runtimeClass, programFile, contents, closedAfterMs };
}

function parse(printed: string): RemoteImageReport {
  try {
    return RemoteImageReport.parse(JSON.parse(printed));
  } catch {
    throw new PlacementError(
      "bad_option",
      `kubernetes_image: the image does not work for sessions: ${printed.trim().slice(-500) || "it printed nothing"}. Use the image of Shoal's Dockerfile.`,
    );
  }
}

async function runOnce(
  cluster: Cluster,
  command: readonly string[],
  { image, runtimeClass, server, startMs }: ExamineOptions,
): Promise<string> {
  const id = randomBytes(6).toString("hex");
  const object = sessionObject({
    name: `shoal-probe-${id}`,
    namespace: cluster.namespace,
    labels: labelsOf(server, id),
    shutdownTime: undefined,
    spec: podSpec({ image, runtimeClass, command, env: {}, memoryBytes: undefined, diskBytes: undefined }),
  });
  try {
    await cluster.create(object);
    await ended(cluster, `${labels.instance}=${id}`, startMs);
    const abort = new AbortController();
    const text = await answerText(cluster.logs(`shoal-probe-${id}`, containerName, abort.signal), {
      bytes: maxReportBytes,
    });
    abort.abort();
    return text;
  } catch (error) {
    if (PlacementError.isInstance(error)) throw error;
    throw new PlacementError(
      "bad_option",
      `Kubernetes refuses to start a pod in the namespace ${cluster.namespace}: ${messageOf(error)}`,
      { cause: error },
    );
  } finally {
    await cluster.remove(object, 0).catch(() => undefined);
  }
}

function ended(cluster: Cluster, selector: string, startMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let obstacle = "Kubernetes reported no reason";
    function finish(problem?: string): void {
      clearTimeout(timer);
      unfollow();
      if (problem === undefined) resolve();
      else reject(new PlacementError("bad_option", `A pod for sessions did not start: ${problem}.`));
    }
    const timer = setTimeout(() => {
      finish(`${obstacle} (within ${String(startMs / 1000)} s)`);
    }, startMs);
    const unfollow = cluster.follow("pods", selector, (pod, isGone) => {
      const state = podState(pod);
      if (state.phase === "ended") finish(state.reason);
      else if (isGone) finish(deletionReason(pod));
      else if (state.phase === "waiting" && state.reason !== undefined) {
        obstacle = state.reason;
        if (state.isFinal) finish(state.reason);
      }
    });
  });
}
