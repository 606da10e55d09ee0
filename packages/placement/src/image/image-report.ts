import { installedPlaces } from "../chromium/places.ts";
import { ImageReport } from "./image-contents.ts";
import { PlacementError } from "../interface/placement-error.ts";
import * as z from "zod/mini";
import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";

/** Like {@link ImageReport}, with the SHA-256 of the instance program and the targets that it still reached at the end. */
export interface RemoteImageReport extends z.output<typeof RemoteImageReport> {}
export const RemoteImageReport = z.extend(ImageReport, {
  program: z.string(),
  reached: z.array(z.string()),
  /** Milliseconds until it reached no target. */
  closed_after_ms: z.number(),
});

/** For scripts in an image, with `readdirSync`. */
export const listLocales = `
const { dirname } = require("node:path");
const list = (folder) => { try { return readdirSync(folder); } catch { return []; } };
const listLocales = (found) => Object.fromEntries(found.map((path) => [path, list(dirname(path) + "/locales")]));`;

const tools = ["/usr/bin/Xvfb", "/usr/bin/certutil"];

const script = `
const { existsSync, readdirSync, readFileSync } = require("node:fs");
const { createHash } = require("node:crypto");
const { spawnSync } = require("node:child_process");
const { connect } = require("node:net");
const [program, closed, limitMs, ...places] = process.argv.slice(1);
const hash = () => { try { return createHash("sha256").update(readFileSync(program)).digest("hex"); } catch { return ""; } };
const reach = (target) => new Promise((resolve) => {
  const end = target.lastIndexOf(":");
  const socket = connect({ host: target.slice(0, end), port: Number(target.slice(end + 1)), timeout: 2000 });
  const finish = (found) => { socket.destroy(); resolve(found); };
  socket.on("connect", () => finish([target])).on("error", () => finish([])).on("timeout", () => finish([]));
});
const beganMs = Date.now();
const untilClosed = async () => {
  for (;;) {
    const reached = (await Promise.all(JSON.parse(closed).map(reach))).flat();
    if (reached.length === 0 || Date.now() - beganMs >= Number(limitMs)) return reached;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
};
const found = places.filter((path) => existsSync(path));
${listLocales}
untilClosed().then((reached) => console.log(JSON.stringify({
  token: "",
  node: process.execPath,
  version: process.versions.node,
  found,
  locales: listLocales(found),
  userNamespaces: spawnSync("unshare", ["--user", "--map-root-user", "true"]).status === 0,
  program: hash(),
  reached,
  closed_after_ms: Date.now() - beganMs,
})));`;

/**
 * A command that prints a {@link RemoteImageReport} in a container.
 * @param closed - `host:port` that it tries to reach, again and again for `closedWithinMs`: some network plugins program
 * the rules of a pod after its start.
 */
export function imageReportCommand(program: string, closed: readonly string[], closedWithinMs = 0): readonly string[] {
  const options = [program, JSON.stringify(closed), String(closedWithinMs)];
  return ["node", "--eval", script, "--", ...options, ...installedPlaces(), ...tools];
}

/** @throws {PlacementError} `bad_option` if the image has another instance program than this server. */
export async function checkProgram(
  { program }: RemoteImageReport,
  programPath: string,
  subject: string,
): Promise<void> {
  const wanted = createHash("sha256")
    .update(await readFile(programPath))
    .digest("hex");
  if (program === wanted) return;
  throw new PlacementError(
    "bad_option",
    `${subject} has ${program === "" ? "no instance program" : "another version of Shoal"}. Use the image of this server's version.`,
  );
}
