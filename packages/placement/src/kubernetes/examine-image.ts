import { installedPlaces } from "../chromium/places.ts";
import { contentsOf, type ImageContents, ImageReport } from "../container/image-contents.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { answerText } from "../streams/answer-text.ts";
import type { Cluster } from "./cluster.ts";
import { containerName, labels, labelsOf, podSpec, programFolder, sessionObject } from "./pod-spec.ts";
import { podState } from "./pod-state.ts";
import { messageOf } from "@shoal/primitives";
import * as z from "zod/mini";
import { createHash, randomBytes } from "node:crypto";
import { readFile } from "node:fs/promises";
import { basename } from "node:path";

export interface PodImage {
  readonly name: string;
  readonly runtimeClass: string | undefined;
  readonly contents: ImageContents;
  /** Name in {@link programFolder}. */
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
}

const PodReport = z.extend(ImageReport, { program: z.string(), reached: z.array(z.string()) });

const maxReportBytes = 65_536;
const tools = ["/usr/bin/Xvfb", "/usr/bin/certutil"];

const script = `
const { existsSync, readFileSync } = require("node:fs");
const { createHash } = require("node:crypto");
const { spawnSync } = require("node:child_process");
const { connect } = require("node:net");
const [program, closed, ...places] = process.argv.slice(1);
const hash = () => { try { return createHash("sha256").update(readFileSync(program)).digest("hex"); } catch { return ""; } };
const reach = (target) => new Promise((resolve) => {
  const end = target.lastIndexOf(":");
  const socket = connect({ host: target.slice(0, end), port: Number(target.slice(end + 1)), timeout: 2000 });
  const finish = (found) => { socket.destroy(); resolve(found); };
  socket.on("connect", () => finish([target])).on("error", () => finish([])).on("timeout", () => finish([]));
});
Promise.all(JSON.parse(closed).map(reach)).then((reached) => console.log(JSON.stringify({
  token: "",
  node: process.execPath,
  version: process.versions.node,
  found: places.filter((path) => existsSync(path)),
  userNamespaces: spawnSync("unshare", ["--user", "--map-root-user", "true"]).status === 0,
  program: hash(),
  reached: reached.flat(),
})));`;

/**
 * Runs a pod of the image with the options of a session.
 * @throws {PlacementError} `bad_option` if it cannot start or lacks a part; `no_isolation` if it reaches the network.
 */
export async function examinePodImage(cluster: Cluster, options: ExamineOptions): Promise<PodImage> {
  const { closed, image, programPath, runtimeClass } = options;
  const programFile = basename(programPath);
  const command = [
    "node",
    "--eval",
    script,
    "--",
    `${programFolder}/${programFile}`,
    JSON.stringify(closed),
    ...installedPlaces(),
    ...tools,
  ];
  const report = parse(await runOnce(cluster, command, options));
  if (report.reached.length > 0)
    throw new PlacementError(
      "no_isolation",
      `Pods of sessions reach ${report.reached.join(", ")}, and must have no network. Install the NetworkPolicy of docs/service/kubernetes.yaml, and a network plugin that enforces policies.`,
    );
  const wanted = createHash("sha256")
    .update(await readFile(programPath))
    .digest("hex");
  if (report.program !== wanted)
    throw new PlacementError(
      "bad_option",
      `kubernetes_image: ${image} has ${report.program === "" ? "no instance program" : "another version of Shoal"}. Use the image of this server's version.`,
    );
  return { name: image, runtimeClass, programFile, contents: contentsOf(report, `kubernetes_image: ${image}`) };
}

function parse(printed: string): z.output<typeof PodReport> {
  try {
    return PodReport.parse(JSON.parse(printed));
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
    const text = await answerText(cluster.logs(`shoal-probe-${id}`, containerName, abort.signal), maxReportBytes);
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
      else if (isGone) finish("it was deleted outside of the service");
      else if (state.phase === "waiting" && state.reason !== undefined) {
        obstacle = state.reason;
        if (state.isFinal) finish(state.reason);
      }
    });
  });
}
