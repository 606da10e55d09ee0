import { temporaryDirectory } from "../testing/placements.ts";
import { describeWith } from "../testing/requirements.ts";
import { startServer } from "../testing/servers.ts";
import { accessSync, constants } from "node:fs";
import { chmod, chown, copyFile, cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";

const nobody = 65_534;
const asNobody = ["setpriv", `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];

// The plain user runs programs of this checkout, which may be in a private folder.
const canRead = readableByOthers(import.meta.dirname);
const reason = canRead ? "" : " (skipped: this checkout is below /root, which only root may read)";

describeWith(["root", "bubblewrap", "chromium"], `a server that runs as a plain user${reason}`, () => {
  it.runIf(canRead)("creates boxes with a real browser and its inner sandbox", async () => {
    const home = await temporaryDirectory();
    await chown(home, nobody, nobody);
    const env = { PATH: process.env.PATH, HOME: home, TMPDIR: home };
    const { served } = await startServer(
      { kind: "auto", sessionsDir: join(home, "sessions"), warm: 1, sessionDiskBytes: 256 * 2 ** 20 },
      { wrapper: asNobody, node: await nodeFor(home), env },
    );
    expect(served).toMatchObject({ instance: { kind: "sandbox" }, warnings: [] });
  });

  it.runIf(canRead)("isolates boxes like a server that runs as root", async () => {
    const home = await temporaryDirectory();
    await Promise.all([
      cp(join(import.meta.dirname, "../testing/stand-in.mjs"), join(home, "stand-in.mjs")),
      writeFile(join(home, "behaviour"), "fine"),
      chmod(home, 0o700),
    ]);
    for (const path of [home, join(home, "stand-in.mjs"), join(home, "behaviour")]) await chown(path, nobody, nobody);
    const command =
      "id -u; stat -f -c %c /home/shoal; stat -c %U /home/shoal; grep -c . /proc/net/dev; grep -E 'Cap(Prm|Eff|Bnd)|NoNewPrivs' /proc/self/status; grep processes /proc/self/limits; (: >> /proc/sys/kernel/core_pattern) 2>&1; (: >> /usr/x) 2>&1; ls /home; unshare --user --map-root-user id -u; (i=0; while [ $i -lt 1200 ]; do sleep 3600 & i=$((i+1)); done) >/dev/null 2>&1; set -- /proc/[0-9]*; echo $#";
    const { served } = await startServer(
      {
        kind: "sandbox",
        sessionsDir: join(home, "sessions"),
        warm: 0,
        programPath: join(home, "stand-in.mjs"),
        command,
        sessionDiskBytes: 64 * 2 ** 20,
      },
      { wrapper: asNobody, node: await nodeFor(home), env: { PATH: process.env.PATH, HOME: home, TMPDIR: home } },
    );
    const { stdout } = JSON.parse(served.printed) as { stdout: string };
    expect(stdout.split("\n")).toEqual([
      "1000",
      // One file for each 8 KiB.
      "8192",
      "shoal",
      // Two lines of headings, loopback, and both ends of an interface.
      "5",
      ...["CapPrm", "CapEff", "CapBnd"].map((name) => `${name}:\t0000000000000000`),
      "NoNewPrivs:\t1",
      expect.stringMatching(/Max processes\s+1024\s+1024/),
      expect.stringContaining("Permission denied"),
      expect.stringContaining("Read-only file system"),
      "shoal",
      "0",
      // Processes of a fork bomb.
      expect.stringMatching(/^(9\d\d|10[01]\d)$/),
      "",
    ]);
  });
});

async function nodeFor(home: string): Promise<string> {
  if (readableByOthers(process.execPath)) return process.execPath;
  const copy = join(home, "node");
  await copyFile(process.execPath, copy);
  await chmod(copy, 0o755);
  return copy;
}

function readableByOthers(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
  } catch {
    return false;
  }
  return !path.startsWith("/root/");
}
