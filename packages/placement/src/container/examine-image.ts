import { installedPlaces } from "../chromium/places.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { splitAttached } from "./attached-streams.ts";
import { containerSpec, inside } from "./container-spec.ts";
import type { ContainerEngine } from "./engine.ts";
import { contentsOf, type ImageContents, ImageReport, loaderPath } from "./image-contents.ts";
import { folderLabel } from "./leftovers.ts";
import * as z from "zod/mini";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";

const tokenFile = "token";

const script = `
const { existsSync, readFileSync } = require("node:fs");
const { spawnSync } = require("node:child_process");
const read = (path) => { try { return readFileSync(path, "utf8"); } catch { return ""; } };
console.log(JSON.stringify({
  token: read(${JSON.stringify(`${inside.sockets}/${tokenFile}`)}),
  node: process.execPath,
  version: process.versions.node,
  found: process.argv.slice(1).filter((path) => existsSync(path)),
  userNamespaces: spawnSync("unshare", ["--user", "--map-root-user", "true"]).status === 0,
}));`;

/**
 * Runs a container of the image with the options of a session.
 * @throws {PlacementError} `bad_option` if the image lacks a part, or the engine runs on another machine.
 */
export async function examineImage(
  engine: ContainerEngine,
  {
    image,
    runtimeDir,
    seccomp,
    sessionsDir,
  }: {
    readonly image: string;
    readonly runtimeDir: string;
    readonly sessionsDir: string;
    readonly seccomp: string;
  },
): Promise<ImageContents> {
  if (!(await engine.hasImage(image)))
    throw new PlacementError(
      "bad_option",
      `docker_image: the engine has no image ${image}. Build it (docker build --tag ${image} . in a clone), or pull it.`,
    );
  const token = randomBytes(8).toString("hex");
  const folder = join(runtimeDir, "probe");
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  await writeFile(join(folder, tokenFile), token, { mode: 0o644 });
  const tools = ["/usr/bin/Xvfb", "/usr/bin/certutil"];
  const printed = await runOnce(engine, {
    image,
    seccomp,
    folder,
    sessionsDir,
    command: ["node", "--eval", script, "--", ...installedPlaces(), loaderPath, ...tools],
  });
  const report = parse(printed.stdout);
  if (report === undefined)
    throw new PlacementError(
      "bad_option",
      `docker_image: ${image} does not work for sessions: ${printed.stderr.trim().slice(-500) || "it printed nothing"}. Use the image of Shoal's Dockerfile.`,
    );
  if (report.token !== token)
    throw new PlacementError(
      "bad_option",
      "docker_host: the containers do not see the files of this server. The engine must run on the same machine, and a server in a container needs its data folder and temporary folder at the same paths as on the host.",
    );
  return contentsOf(report, `docker_image: ${image}`);
}

async function runOnce(
  engine: ContainerEngine,
  {
    command,
    folder,
    image,
    seccomp,
    sessionsDir,
  }: {
    readonly command: readonly string[];
    readonly folder: string;
    readonly image: string;
    readonly seccomp: string;
    readonly sessionsDir: string;
  },
): Promise<{ readonly stdout: string; readonly stderr: string }> {
  const spec = containerSpec({
    image,
    labels: { [folderLabel]: sessionsDir },
    command,
    env: {},
    mounts: [{ from: folder, to: inside.sockets }],
    memoryBytes: undefined,
    diskBytes: undefined,
    seccomp,
  });
  const container = await engine.create(`shoal-probe-${randomBytes(6).toString("hex")}`, spec);
  try {
    const streams = splitAttached(await engine.startAttached(container));
    const [stdout, stderr] = await Promise.all([text(streams.stdout), text(streams.stderr)]);
    return { stdout, stderr };
  } catch (error) {
    return { stdout: "", stderr: String(error) };
  } finally {
    await engine.remove(container);
  }
}

function parse(stdout: string): z.output<typeof ImageReport> | undefined {
  try {
    return ImageReport.parse(JSON.parse(stdout));
  } catch {
    return undefined;
  }
}
