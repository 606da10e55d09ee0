import { execFileSync, spawnSync } from "node:child_process";
import { mkdir, readdir, stat } from "node:fs/promises";
import { dirname, join } from "node:path";
import { expect, it } from "vitest";
import { openDatabase } from "../index.ts";
import { describeIf, setpriv, unshare, whyNoMounts, whyNoOtherUsers } from "../testing/conditions.ts";
import {
  expectNoProcess,
  expectQuiet,
  failed,
  holding,
  mode,
  succeeded,
  useScratch,
} from "../testing/data-directories.ts";
import { recordingLog } from "../testing/logs.ts";
import { followHolder, holderCommand, type HolderReport, startHolder } from "../testing/processes.ts";
import { findBinaries } from "./binaries.ts";

const scratch = useScratch();

function withMounts(script: string, command: readonly string[], asRealRoot = false): string[] {
  const namespaces = asRealRoot ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
  return [
    unshare,
    ...namespaces,
    "--propagation=private",
    "/bin/sh",
    "-c",
    `set -e; ${script}; exec "$@"`,
    "sh",
    ...command,
  ];
}

describeIf(whyNoMounts(), "on a separate file system", () => {
  it("reports a full disk during initdb and at a start, and works again once there is space", async () => {
    const disk = scratch.path("disk");
    const dataDir = join(disk, "data");
    await mkdir(disk);
    const script = `
      mount -t tmpfs -o size=20m none ${disk}; "$@" < /dev/null
      mount -o remount,size=300m none ${disk}; "$@" < /dev/null
      dd if=/dev/zero of=${disk}/filler bs=64k 2> /dev/null || true; "$@" < /dev/null
      rm ${disk}/filler`;
    const [file = "", ...args] = withMounts(script, holderCommand({ dataDir }));
    const { stdout } = spawnSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    const reports = stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as HolderReport);
    const full = { ok: false, code: "disk_full", message: holding(dataDir) };
    expect(reports).toMatchObject([full, { ok: true }, full, { ok: true }]);
  });

  it("runs with read-only binaries that lack their links", async () => {
    const { root } = await findBinaries(process.platform, process.arch);
    const bare = scratch.path("bare");
    const dataDir = scratch.path("read-only-binaries");
    await mkdir(bare);
    const script = `
      mount -t tmpfs none ${bare}; mkdir ${bare}/lib; cp ${root}/pg-symlinks.json ${bare}
      for folder in bin share lib/postgresql; do mkdir ${bare}/$folder; mount --bind ${root}/$folder ${bare}/$folder; done
      for file in ${root}/lib/*.*; do test -L $file && continue; to=${bare}/lib/\${file##*/}; touch $to; mount --bind $file $to; done
      mount -o remount,bind,ro ${bare}; mount --rbind ${bare} ${root}`;
    const holder = scratch.hold(followHolder(withMounts(script, holderCommand({ dataDir }))));
    await succeeded(holder);
    expect((await readdir(dataDir)).filter((name) => name.startsWith("postgresql-"))).toHaveLength(1);
    await holder.close();
    await expectQuiet(dataDir);
    const again = scratch.hold(followHolder(withMounts(script, holderCommand({ dataDir }))));
    await succeeded(again);
  });
});

describeIf(whyNoOtherUsers(), "as other users", () => {
  const nobody = 65534;
  const asNobody = [setpriv, `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];

  function openedTo(command: readonly string[]): string[] {
    const checkout = dirname(dirname(dirname(dirname(import.meta.dirname))));
    const places = [checkout, dirname(dirname(process.execPath))];
    const closed = places.filter((place) => {
      try {
        execFileSync(setpriv, [...asNobody.slice(1), "test", "-x", place]);
        return false;
      } catch {
        return true;
      }
    });
    const script = closed
      .map(
        (place) =>
          `mkdir -p ${scratch.path()}/hold; mount --bind ${place} ${scratch.path()}/hold; mount -t tmpfs -o mode=755 none ${join("/", place.split("/")[1] ?? "")}; mkdir -p ${place}; mount --move ${scratch.path()}/hold ${place}`,
      )
      .join("; ");
    return script === "" ? [...command] : withMounts(script, command, true);
  }

  it("runs as a plain user, and leaves no orphan after kill -9", async () => {
    const home = scratch.path("nobody");
    await mkdir(home);
    execFileSync("chown", [String(nobody), home]);
    const dataDir = join(home, "data");
    const holder = startHolder({ dataDir }, openedTo(asNobody));
    await succeeded(holder);
    expect((await stat(join(dataDir, "pgdata"))).uid).toBe(nobody);
    await holder.kill();
    await expectNoProcess(dataDir);
    const again = scratch.hold(startHolder({ dataDir }, openedTo(asNobody)));
    await succeeded(again);
    await again.close();
    await expectQuiet(dataDir);
  });

  it("as root, runs on the directory of a plain user as that user, and leaves it usable", async () => {
    const dataDir = scratch.path("of-nobody");
    await mkdir(dataDir, { mode: 0o700 });
    execFileSync("chown", [String(nobody), dataDir]);
    const asRoot = startHolder({ dataDir });
    await succeeded(asRoot);
    expect((await stat(join(dataDir, "pgdata", "postmaster.pid"))).uid).toBe(nobody);
    await asRoot.kill();
    const plain = scratch.hold(startHolder({ dataDir }, openedTo(asNobody)));
    await succeeded(plain);
    await plain.close();
    await expectQuiet(dataDir);
  });

  it("reports that a plain user cannot write", async () => {
    const dataDir = scratch.path("of-root");
    await mkdir(dataDir);
    for (const path of [dataDir, join(dataDir, "below")]) {
      expect(await failed(scratch.hold(startHolder({ dataDir: path }, openedTo(asNobody))))).toMatchObject({
        code: "data_dir_unwritable",
        message: holding(path),
      });
    }
  });

  it("as root without user namespaces, runs as an unprivileged user", async () => {
    const dataDir = scratch.path("no-namespaces");
    // Containers refuse `unshare` by seccomp; here the program is missing.
    const command = withMounts("mount --bind /bin/false /usr/bin/unshare", holderCommand({ dataDir }), true);
    const holder = followHolder(command);
    await succeeded(holder);
    expect((await stat(join(dataDir, "pgdata"))).uid).not.toBe(0);
    expect(await mode(dataDir)).toBe("700");
    await holder.kill();
    await expectNoProcess(dataDir);
  });

  it("copies binaries that PostgreSQL's user cannot access", async () => {
    const { root } = await findBinaries(process.platform, process.arch);
    const closed = scratch.path("closed");
    const dataDir = scratch.path("closed-binaries");
    await mkdir(closed);
    const script = `
      mount -t tmpfs -o mode=700,uid=12345 none ${closed}; cp -r ${dirname(root)}/dist ${dirname(root)}/package.json ${closed}
      mkdir ${closed}/native; mount --bind ${root} ${closed}/native; mount --rbind ${closed} ${dirname(root)}`;
    const holder = scratch.hold(followHolder(withMounts(script, holderCommand({ dataDir }), true)));
    await succeeded(holder);
    expect((await readdir(dataDir)).filter((name) => name.startsWith("postgresql-"))).toHaveLength(1);
  });

  it("reports that only root can access the data directory", async () => {
    const home = scratch.path("private-home");
    await mkdir(home, { mode: 0o700 });
    execFileSync("chown", ["12345", home]);
    const dataDir = join(home, "data");
    const error: unknown = await openDatabase({ dataDir, log: recordingLog() }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "data_dir_unreachable", message: holding(dataDir) });
  });
});
