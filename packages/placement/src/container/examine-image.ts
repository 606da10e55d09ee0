import { installedPlaces } from "../chromium/places.ts";
import { PlacementError } from "../interface/placement-error.ts";
import { splitAttached } from "./attached-streams.ts";
import { type ContainerOptions, containerSpec, inside } from "./container-spec.ts";
import type { ContainerEngine } from "./engine.ts";
import {
  contentsOf,
  type ImageContents,
  imageProgramFolder,
  ImageReport,
  loaderPath,
} from "../image/image-contents.ts";
import { folderLabel, serverLabel } from "./leftovers.ts";
import { checkProgram, imageReportCommand, listLocales, RemoteImageReport } from "../image/image-report.ts";
import type * as z from "zod/mini";
import { randomBytes } from "node:crypto";
import { chmod, mkdir, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { text } from "node:stream/consumers";

const tokenFile = "token";

const script = `
const { existsSync, readdirSync, readFileSync } = require("node:fs");
const { spawnSync } = require("node:child_process");
const read = (path) => { try { return readFileSync(path, "utf8"); } catch { return ""; } };
const found = process.argv.slice(1).filter((path) => existsSync(path));${listLocales}
console.log(JSON.stringify({
  token: read(${JSON.stringify(`${inside.sockets}/${tokenFile}`)}),
  node: process.execPath,
  version: process.versions.node,
  found,
  locales: listLocales(found),
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
  await checkImage(engine, image);
  const token = randomBytes(8).toString("hex");
  const folder = join(runtimeDir, "probe");
  await mkdir(folder, { recursive: true });
  await chmod(folder, 0o755);
  await writeFile(join(folder, tokenFile), token, { mode: 0o644 });
  const tools = ["/usr/bin/Xvfb", "/usr/bin/certutil"];
  const printed = await runOnce(engine, {
    image,
    seccomp,
    labels: { [folderLabel]: sessionsDir },
    mounts: [{ from: folder, to: inside.sockets }],
    command: ["node", "--eval", script, "--", ...installedPlaces(), loaderPath, ...tools],
  });
  const report = parse(ImageReport, printed);
  if (report === undefined) throw doesNotWork(engine, image, printed);
  if (report.token !== token)
    throw new PlacementError(
      "bad_option",
      "docker_host: the containers do not see the files of this server. The engine must run on the same machine, and a server in a container needs its data folder and temporary folder at the same paths as on the host.",
    );
  return contentsOf(report, `docker_image: ${image}`);
}

/**
 * Like {@link examineImage}, on another machine.
 * @throws {PlacementError} `bad_option` if the image lacks a part, or has another instance program than this server.
 */
export async function examineRemoteImage(
  engine: ContainerEngine,
  {
    image,
    programPath,
    seccomp,
    server,
  }: {
    readonly image: string;
    /** Instance program of this server. */
    readonly programPath: string;
    readonly seccomp: string;
    readonly server: string;
  },
): Promise<ImageContents> {
  await checkImage(engine, image);
  const command = imageReportCommand(`${imageProgramFolder}/${basename(programPath)}`, []);
  const printed = await runOnce(engine, { image, seccomp, labels: { [serverLabel]: server }, mounts: [], command });
  const report = parse(RemoteImageReport, printed);
  if (report === undefined) throw doesNotWork(engine, image, printed);
  const subject = `docker_image: ${image} at ${engine.name}`;
  await checkProgram(report, programPath, subject);
  return contentsOf(report, subject);
}

async function checkImage(engine: ContainerEngine, image: string): Promise<void> {
  if (await engine.hasImage(image)) return;
  throw new PlacementError(
    "bad_option",
    `docker_image: the engine at ${engine.name} has no image ${image}. Build it (docker build --tag ${image} . in a clone), or pull it.`,
  );
}

interface Printed {
  readonly stdout: string;
  readonly stderr: string;
}

async function runOnce(
  engine: ContainerEngine,
  options: Pick<ContainerOptions, "command" | "image" | "labels" | "mounts" | "seccomp">,
): Promise<Printed> {
  const spec = containerSpec({ ...options, env: {}, memoryBytes: undefined, diskBytes: undefined });
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

function parse<T>(schema: z.ZodMiniType<T>, { stdout }: Printed): T | undefined {
  try {
    return schema.parse(JSON.parse(stdout));
  } catch {
    return undefined;
  }
}

function doesNotWork({ name }: ContainerEngine, image: string, { stderr }: Printed): PlacementError {
  return new PlacementError(
    "bad_option",
    `docker_image: ${image} at ${name} does not work for sessions: ${stderr.trim().slice(-500) || "it printed nothing"}. Use the image of Shoal's Dockerfile.`,
  );
}
