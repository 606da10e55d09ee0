import { folder, versions } from "./programs.ts";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  copyFileSync,
  createWriteStream,
  existsSync,
  mkdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";

const root = join(import.meta.dirname, "../..");
const dockerfile = readFileSync(join(root, "Dockerfile"), "utf8");

interface Layer {
  readonly file: string;
  readonly digest: string;
}

interface Image {
  readonly name: string;
  readonly config: object;
  readonly layers: readonly Layer[];
}

export const images = {
  /** As the chart names it by default. */
  shoal: `localhost/shoal:${/^appVersion: "?([^"\n]+)/m.exec(readFileSync(join(root, "charts/shoal/Chart.yaml"), "utf8"))?.[1] ?? ""}`,
  pause: "localhost/pause:1",
  agentSandbox: `localhost/agent-sandbox-controller:${versions.agentSandbox}`,
} as const;

/** The last stage of the Dockerfile: the node has no registry and no engine that could build it. */
const service = {
  User: "1000",
  WorkingDir: "/var/lib/shoal",
  Env: [
    "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    ...(/^ENV (.+)$/m.exec(dockerfile)?.[1] ?? "").split(" "),
  ],
  Entrypoint: ["/usr/bin/tini", "--"],
  Cmd: ["shoal", "serve"],
  Volumes: { "/var/lib/shoal": {} },
};

/** Debian with the packages of the Dockerfile, made once. */
const recipe = `
set -eu
mirror=$(cat /etc/apt/sources.list /etc/apt/sources.list.d/* 2>/dev/null | grep -v '^#' | grep -oE 'https?://[^ ]+/debian/?( |$)' | head -n 1 | tr -d ' ')
mirror=\${mirror:-http://deb.debian.org/debian} mirror=\${mirror%/}
rm -rf base && mkdir base
debootstrap --variant=minbase bookworm base "$mirror" >/dev/null
printf 'deb %s bookworm main\\ndeb %s-security bookworm-security main\\n' "$mirror" "$mirror" >base/etc/apt/sources.list
cp /etc/resolv.conf base/etc/resolv.conf
printf 'path-exclude /usr/share/doc/*\\npath-exclude /usr/share/man/*\\npath-exclude /usr/share/locale/*\\n' >base/etc/dpkg/dpkg.cfg.d/slim
mount -t proc proc base/proc
trap 'umount base/proc' EXIT
export DEBIAN_FRONTEND=noninteractive
chroot base apt-get update -qq
chroot base apt-get install -y -qq --no-install-recommends $PACKAGES >/dev/null
chroot base apt-get clean
rm -rf base/var/lib/apt/lists/* base/var/cache/fontconfig/*
chroot base fc-cache --system-only
chroot base groupadd --gid 1000 node
chroot base useradd --uid 1000 --gid node --shell /bin/bash --create-home node
chroot base install --directory --owner=node --group=node --mode=0700 /var/lib/shoal
install -m 755 "$NODE" base/usr/local/bin/node
`;

/** @throws with the output on stderr if a step fails. */
export async function buildBase(): Promise<void> {
  const packages = /--no-install-recommends ([^&]+)&& apt-get clean/.exec(dockerfile)?.[1]?.replaceAll("\\", " ");
  if (packages === undefined) throw new Error("The Dockerfile does not list its packages as it did.");
  const env = { ...process.env, PACKAGES: packages, NODE: process.execPath };
  const { status } = spawnSync("sh", ["-c", recipe], { cwd: folder, env, stdio: ["ignore", "ignore", "inherit"] });
  if (status !== 0) throw new Error("The build of the image's base failed.");
  await packLayer("base", join(folder, "base"));
  rmSync(join(folder, "base"), { recursive: true });
}

export function hasBase(): boolean {
  return existsSync(join(folder, "base.tar.json"));
}

const archive = join(folder, "images.tar");
/** Has the digests of what containerd stores. */
const imported = join(folder, "imported");

function digests(): string {
  return ["base", "service", "controller"].map((name) => readLayer(name).digest).join("\n");
}

/** Passes the archive of {@link packImages} on, if there is a new one. */
export function importImages(load: (archive: string) => void): void {
  if (!existsSync(archive)) return;
  load(archive);
  writeFileSync(imported, digests());
  rmSync(archive);
}

/** Packs the image of this tree, which must be built, and the pause image of the node. */
export async function packImages(): Promise<void> {
  const files = join(folder, "service");
  rmSync(files, { recursive: true, force: true });
  mkdirSync(join(files, "usr/local/bin"), { recursive: true });
  execFileSync(process.execPath, [join(root, "tools/image-files.mjs"), join(files, "opt/shoal")], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  symlinkSync("/opt/shoal/node_modules/@shoal/cli/dist/shoal.js", join(files, "usr/local/bin/shoal"));
  const libraries = execFileSync("ldd", [process.execPath], { encoding: "utf8" });
  const loader = /\/[^ ]*\/ld-linux[^ ]*/.exec(libraries)?.[0] ?? "";
  copyFileSync(loader, join(files, "opt/shoal/loader"));
  execFileSync("chmod", ["0111", join(files, "opt/shoal/loader")]);
  const layer = await packLayer("service", files);
  rmSync(files, { recursive: true });
  const controllerFiles = join(folder, "controller");
  mkdirSync(controllerFiles, { recursive: true });
  copyFileSync(join(folder, "bin/agent-sandbox-controller"), join(controllerFiles, "agent-sandbox-controller"));
  const controller = await packLayer("controller", controllerFiles);
  if (existsSync(imported) && readFileSync(imported, "utf8") === digests()) return;
  const base = readLayer("base");
  writeArchive([
    { name: images.shoal, config: service, layers: [base, layer] },
    {
      name: images.pause,
      config: { User: "65535", Entrypoint: ["/usr/bin/tini", "--", "sleep", "infinity"] },
      layers: [base],
    },
    {
      name: images.agentSandbox,
      config: { User: "65532", Entrypoint: ["/agent-sandbox-controller"] },
      layers: [base, controller],
    },
  ]);
}

/** Packs a folder so that the same files make the same layer. */
async function packLayer(name: string, files: string): Promise<Layer> {
  const file = join(folder, `${name}.tar`);
  const options = ["--sort=name", "--mtime=@0", "--numeric-owner", "--one-file-system", "--exclude=./proc/*"];
  if (name !== "base") options.push("--owner=0", "--group=0");
  const tar = spawn("tar", ["-C", files, ...options, "-cf", "-", "."], { stdio: ["ignore", "pipe", "inherit"] });
  const hash = createHash("sha256");
  tar.stdout.on("data", (bytes: Buffer) => hash.update(bytes));
  await pipeline(tar.stdout, createWriteStream(file));
  const layer = { file, digest: hash.digest("hex") };
  writeFileSync(`${file}.json`, JSON.stringify(layer));
  return layer;
}

function readLayer(name: string): Layer {
  return JSON.parse(readFileSync(join(folder, `${name}.tar.json`), "utf8")) as Layer;
}

/** The format of `docker save`, with links to the layers until tar follows them. */
function writeArchive(made: readonly Image[]): void {
  const parts = join(folder, "archive");
  rmSync(parts, { recursive: true, force: true });
  mkdirSync(parts);
  const manifest = made.map(({ config, layers, name }) => {
    const content = JSON.stringify({
      ...{ architecture: "amd64", os: "linux", created: "1970-01-01T00:00:00Z", config },
      rootfs: { type: "layers", diff_ids: layers.map(({ digest }) => `sha256:${digest}`) },
    });
    const Config = `${createHash("sha256").update(content).digest("hex")}.json`;
    writeFileSync(join(parts, Config), content);
    for (const { digest, file } of layers)
      if (!existsSync(join(parts, `${digest}.tar`))) symlinkSync(file, join(parts, `${digest}.tar`));
    return { Config, RepoTags: [name], Layers: layers.map(({ digest }) => `${digest}.tar`) };
  });
  writeFileSync(join(parts, "manifest.json"), JSON.stringify(manifest));
  execFileSync("tar", ["-C", parts, "--dereference", "-cf", archive, "."]);
  rmSync(parts, { recursive: true });
}
