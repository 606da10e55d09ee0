import { execFileSync, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { sql } from "kysely";
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from "vitest";
import { type Database, DatabaseError, openDatabase } from "../index.ts";
import { describeIf, isRoot, scratchBase, setpriv, unshare, whyNoMounts, whyNoOtherUsers } from "../testing/conditions.ts";
import { recordingLog } from "../testing/logs.ts";
import { followHolder, type Holder, holderCommand, type HolderReport, postgresIn, postmasterOf, startHolder } from "../testing/processes.ts";
import { findBinaries } from "./binaries.ts";

let scratch: string;
const holders: Holder[] = [];

beforeAll(async () => {
  scratch = await mkdtemp(join(scratchBase(), "shoal-database-test-"));
  await chmod(scratch, 0o755);
});

afterEach(async () => {
  await Promise.all(holders.splice(0).map((holder) => holder.close()));
});

afterAll(async () => {
  await rm(scratch, { recursive: true, force: true });
});

/** A holder that is closed after the test, whatever happens. */
function hold(start: Holder): Holder {
  holders.push(start);
  return start;
}

async function succeeded(holder: Holder) {
  const report = await holder.report;
  if (!report.ok) throw new Error(`${report.code}: ${report.message}`);
  return report;
}

async function failed(holder: Holder) {
  const report = await holder.report;
  if (report.ok) throw new Error("the database was opened");
  return report;
}

/** Nothing runs in a data directory, and only what a next start needs is left there. */
async function expectQuiet(directory: string): Promise<void> {
  await vi.waitFor(() => {
    expect(postgresIn(directory)).toEqual([]);
  });
  const names = await readdir(directory);
  expect(names.filter((name) => !name.startsWith("postgresql-")).sort()).toEqual(["lock", "pgdata"]);
  expect(existsSync(join(directory, "pgdata", "postmaster.pid"))).toBe(false);
}

const holding = (text: string): unknown => expect.stringContaining(text);

const mode = async (path: string): Promise<string> => ((await stat(path)).mode & 0o777).toString(8);

describe("an embedded database", () => {
  it("is made once, private and durable, and keeps its rows", async () => {
    const dataDir = join(scratch, "deep", `a b, "c" 'd' ü%20`);
    const log = recordingLog();
    const first = await openDatabase({ dataDir, log });
    const projects = await first.query.selectFrom("projects").select(["id", "name", "is_default"]).execute();
    expect(projects).toEqual([{ id: expect.stringMatching(/^[a-z][a-z0-9]{23}$/) as string, name: "default", is_default: true }]);
    expect(first.embedded).toBe(true);
    expect(await mode(dataDir)).toBe("700");
    expect(await mode(join(dataDir, "pgdata"))).toBe("700");
    expect(await mode(join(dataDir, "run"))).toBe("700");
    const { rows } = await sql<Record<string, string>>`
      select current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes, current_setting('synchronous_commit') as synchronous_commit,
        current_setting('server_encoding') as encoding, current_setting('listen_addresses') as addresses`.execute(first.query);
    expect(rows[0]).toEqual({ fsync: "on", full_page_writes: "on", synchronous_commit: "on", encoding: "UTF8", addresses: "" });
    await first.close();
    await first.close();
    await expectQuiet(dataDir);

    const second = await openDatabase({ dataDir, log });
    expect(await second.query.selectFrom("projects").select(["id", "name", "is_default"]).execute()).toEqual(projects);
    await second.close();
    expect(log.lines.filter((line) => line.includes("made a new database"))).toHaveLength(1);
    expect(log.lines.filter((line) => line.includes("migrated the database"))).toHaveLength(1);
    expect(log.lines.filter((line) => /^(?:warn|error)/.test(line))).toEqual([]);
  });

  it("is started again when its PostgreSQL is killed, also below a path too long for a socket", async () => {
    const dataDir = join(scratch, "long".repeat(40));
    const log = recordingLog();
    const database = await openDatabase({ dataDir, log });
    const { socket_dir } = JSON.parse(await readFile(join(dataDir, "owner.json"), "utf8")) as { socket_dir: string };
    expect(await mode(socket_dir)).toBe("700");
    expect(socket_dir.startsWith(dataDir)).toBe(false);
    const heard: unknown[] = [];
    database.onChange((change) => heard.push(change));
    // One connection is in use and silent, which is when a break has no query to report to.
    const held = database.query.transaction().execute(async (transaction) => {
      await sql`select 1`.execute(transaction);
      process.kill(postmasterOf(dataDir), "SIGKILL");
      await vi.waitFor(() => {
        expect(heard).toContain(undefined);
      });
      await sql`select 1`.execute(transaction);
    });
    await expect(held).rejects.toThrow();
    await vi.waitFor(
      async () => {
        expect(await database.query.selectFrom("projects").select("name").execute()).toEqual([{ name: "default" }]);
        expect(database.isListening()).toBe(true);
      },
      { timeout: 20_000 },
    );
    expect(log.lines.some((line) => line.startsWith("error the embedded PostgreSQL ended by itself"))).toBe(true);
    await database.close();
    expect(existsSync(socket_dir)).toBe(false);
    await expectQuiet(dataDir);
  });

  it("listens on loopback with a password where there are no Unix sockets", async () => {
    const { startEmbedded } = await import("./embedded-postgres.ts");
    const dataDir = join(scratch, "tcp");
    const log = recordingLog();
    const options = { directory: dataDir, log, platform: process.platform, arch: process.arch, tcp: true };
    const first = await startEmbedded(options);
    if ("url" in first.target) throw new Error("unexpected");
    const { host, port, user, password, database } = first.target;
    if (password === undefined) throw new Error("no password was made");
    expect(host).toBe("127.0.0.1");
    expect(await mode(join(dataDir, "password"))).toBe("600");
    const url = `postgres://${user}:${encodeURIComponent(password)}@${host}:${port}/${database}`;
    const connected = await openDatabase({ url, dataDir: "", log });
    await connected.close();
    const refused = await openDatabase({ url: url.replace(encodeURIComponent(password), "wrong"), dataDir: "", log }).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: "authentication_failed" });
    await first.stop();
    const second = await startEmbedded(options);
    expect(second.target).toMatchObject({ password });
    await second.stop();
    expect(postgresIn(dataDir)).toEqual([]);
  });
});

describe("several starts", () => {
  it("run side by side on different directories", async () => {
    const reports = await Promise.all(["side-1", "side-2"].map((name) => succeeded(hold(startHolder({ dataDir: join(scratch, name) })))));
    expect(new Set(reports.map(({ projects }) => projects[0])).size).toBe(2);
  });

  it("are refused on a directory in use, at once and without harm to the holder", async () => {
    const dataDir = join(scratch, "side-2");
    const holder = hold(startHolder({ dataDir }));
    const { pid } = await succeeded(holder);
    const postmaster = postmasterOf(dataDir);
    const log = recordingLog();
    const startedAt = performance.now();
    const error: unknown = await openDatabase({ dataDir, log }).catch((reason: unknown) => reason);
    expect(performance.now() - startedAt).toBeLessThan(2000);
    expect(DatabaseError.isInstance(error)).toBe(true);
    expect(error).toMatchObject({ code: "data_dir_locked", message: `The data directory ${dataDir} is in use by process ${pid}.` });
    const other = await failed(hold(startHolder({ dataDir })));
    expect(other).toMatchObject({ code: "data_dir_locked" });
    expect(other.message).toContain(String(pid));
    expect(postmasterOf(dataDir)).toBe(postmaster);
    expect(await holder.close()).toBe(0);
    await expectQuiet(dataDir);
  });

  it("on one empty directory at once: one wins, the others are told by whom", async () => {
    const dataDir = join(scratch, "race");
    const log = recordingLog();
    const results = await Promise.allSettled([1, 2, 3].map(() => openDatabase({ dataDir, log })));
    const won = results.filter((result) => result.status === "fulfilled");
    expect(won).toHaveLength(1);
    for (const result of results) {
      if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "data_dir_locked" });
    }
    // The refused ones did not loosen the winner's hold.
    expect(await failed(hold(startHolder({ dataDir })))).toMatchObject({ code: "data_dir_locked", message: holding(`process ${process.pid}.`) });
    await Promise.all(won.map(({ value }) => value.close()));
    await expectQuiet(dataDir);
  });
});

describe("after kill -9", () => {
  it.skipIf(process.platform !== "linux")("of the owner nothing runs on, and the next start has all rows", async () => {
    const dataDir = join(scratch, "side-1");
    const holder = startHolder({ dataDir });
    const { projects } = await succeeded(holder);
    await holder.kill();
    await vi.waitFor(
      () => {
        expect(postgresIn(dataDir)).toEqual([]);
      },
      { timeout: 5000 },
    );
    const log = recordingLog();
    const next = await openDatabase({ dataDir, log });
    expect(await next.query.selectFrom("projects").select("id").execute()).toEqual(projects.map((id) => ({ id })));
    await next.close();
    await expectQuiet(dataDir);
  });

  it("of the owner, a start at once waits for the old PostgreSQL", async () => {
    const dataDir = join(scratch, "side-1");
    const holder = startHolder({ dataDir });
    await succeeded(holder);
    await holder.kill();
    const next = await openDatabase({ dataDir, log: recordingLog() });
    await next.close();
    await expectQuiet(dataDir);
  });

  it("of the owner and of its PostgreSQL at once, the next start recovers", async () => {
    const dataDir = join(scratch, "side-1");
    const holder = startHolder({ dataDir });
    await succeeded(holder);
    const postmaster = postmasterOf(dataDir);
    // Both before either can notice.
    process.kill(postmaster, "SIGKILL");
    await holder.kill();
    const next = await openDatabase({ dataDir, log: recordingLog() });
    await next.close();
    await expectQuiet(dataDir);
  });

  it("an orphaned PostgreSQL that nobody told to stop is stopped by the next start", async () => {
    const dataDir = join(scratch, "side-1");
    const { postgres } = await findBinaries(process.platform, process.arch);
    const asUser = isRoot ? ["--user", "--map-user=1", "--map-group=1"] : [];
    const orphan = spawn(unshare, [...asUser, postgres, "-D", join(dataDir, "pgdata"), "-k", dataDir, "-c", "listen_addresses="], { stdio: "ignore", env: { ...process.env, LC_ALL: "C" } });
    const ended = new Promise((resolve) => orphan.once("close", resolve));
    await vi.waitFor(
      async () => {
        expect(await readFile(join(dataDir, "pgdata", "postmaster.pid"), "utf8")).toContain("ready");
      },
      { timeout: 10_000 },
    );
    const log = recordingLog();
    const next = await openDatabase({ dataDir, log });
    expect(await ended).toBe(0);
    expect(log.lines.some((line) => line.startsWith("warn stopping the PostgreSQL that a killed process left behind"))).toBe(true);
    await next.close();
    await expectQuiet(dataDir);
  });

  it("a left-over process id that another process has now is no obstacle", async () => {
    const dataDir = join(scratch, "side-1");
    const innocent = spawn("sleep", ["60"], { stdio: "ignore" });
    await writeFile(join(dataDir, "pgdata", "postmaster.pid"), `${String(innocent.pid)}\n${join(dataDir, "pgdata")}\n1700000000\n5432\n${dataDir}\n\n        1         2\nready   \n`);
    const next = await openDatabase({ dataDir, log: recordingLog() });
    await next.close();
    expect(innocent.exitCode).toBeNull();
    innocent.kill();
    await expectQuiet(dataDir);
  });

  it("in the middle of initdb, the next start makes the database anew", async () => {
    const dataDir = join(scratch, "half-made");
    const holder = startHolder({ dataDir });
    await vi.waitFor(
      async () => {
        const draft = (await readdir(dataDir)).find((name) => name.startsWith("initdb-"));
        expect(draft).toBeDefined();
        expect(await readdir(join(dataDir, draft ?? "", "pgdata"))).toContain("base");
      },
      { timeout: 10_000, interval: 5 },
    );
    await holder.kill();
    expect(existsSync(join(dataDir, "pgdata"))).toBe(false);
    const next = await openDatabase({ dataDir, log: recordingLog() });
    expect(await next.query.selectFrom("projects").select("name").execute()).toEqual([{ name: "default" }]);
    await next.close();
    await expectQuiet(dataDir);
  });
});

describe("what is in the way is said", () => {
  it("and nothing is left running when the database itself is refused", async () => {
    const dataDir = join(scratch, "side-2");
    const database = await openDatabase({ dataDir, log: recordingLog() });
    await sql`insert into shoal_migrations (id) values ('0999_future')`.execute(database.query);
    await database.close();
    expect(await attempt(dataDir)).toEqual({ code: "schema_newer", message: holding("0999_future") });
    await expectQuiet(dataDir);
  });

  const attempt = async (dataDir: string): Promise<unknown> => {
    const result = await openDatabase({ dataDir, log: recordingLog() }).catch((error: unknown) => error);
    if (DatabaseError.isInstance(result)) return { code: result.code, message: result.message };
    await (result as Database).close();
    throw new Error("the database was opened");
  };

  it("when the data directory is a file or below one", async () => {
    const file = join(scratch, "file");
    await writeFile(file, "");
    expect(await attempt(file)).toEqual({ code: "data_dir_unwritable", message: holding(file) });
    expect(await attempt(join(file, "data"))).toEqual({ code: "data_dir_unwritable", message: holding(file) });
  });

  it("when there are no binaries for the platform", async () => {
    const error: unknown = await findBinaries("sunos", "sparc").catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "embedded_unavailable", message: holding("sunos-sparc"), hint: holding("URL of a PostgreSQL 14") });
  });

  it("when another PostgreSQL made the database", async () => {
    const dataDir = join(scratch, "other-version");
    await mkdir(join(dataDir, "pgdata"), { recursive: true });
    await writeFile(join(dataDir, "pgdata", "PG_VERSION"), "16\n");
    expect(await attempt(dataDir)).toEqual({ code: "data_version", message: holding("made by PostgreSQL 16; this program brings PostgreSQL 18") });
  });
});

/** A command that runs `command` after `script`, with mounts that end with it. Root there is root here only in name, unless we are root. */
function withMounts(script: string, command: readonly string[], asRealRoot = false): string[] {
  const namespaces = asRealRoot ? ["--mount"] : ["--user", "--map-root-user", "--mount"];
  return [unshare, ...namespaces, "--propagation=private", "/bin/sh", "-c", `set -e; ${script}; exec "$@"`, "sh", ...command];
}

describeIf(whyNoMounts(), "on a file system of its own", () => {
  it("says that the disk is full, in initdb and at a start, and goes on when there is space again", async () => {
    const disk = join(scratch, "disk");
    const dataDir = join(disk, "data");
    await mkdir(disk);
    const script = `
      mount -t tmpfs -o size=20m none ${disk}; "$@" < /dev/null
      mount -o remount,size=300m none ${disk}; "$@" < /dev/null
      dd if=/dev/zero of=${disk}/filler bs=64k 2> /dev/null || true; "$@" < /dev/null
      rm ${disk}/filler`;
    const [file = "", ...args] = withMounts(script, holderCommand({ dataDir }));
    const { stdout } = spawnSync(file, args, { encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] });
    const reports = stdout.trim().split("\n").map((line) => JSON.parse(line) as HolderReport);
    const full = { ok: false, code: "disk_full", message: holding(dataDir) };
    expect(reports).toMatchObject([full, { ok: true }, full, { ok: true }]);
  });

  it("runs where its binaries may not be completed: read-only and without links", async () => {
    const { root } = await findBinaries(process.platform, process.arch);
    const bare = join(scratch, "bare");
    const dataDir = join(scratch, "read-only-binaries");
    await mkdir(bare);
    // The package as npm unpacks it, file by file, without the links that other starts have made.
    const script = `
      mount -t tmpfs none ${bare}; mkdir ${bare}/lib; cp ${root}/pg-symlinks.json ${bare}
      for folder in bin share lib/postgresql; do mkdir ${bare}/$folder; mount --bind ${root}/$folder ${bare}/$folder; done
      for file in ${root}/lib/*.*; do test -L $file && continue; to=${bare}/lib/\${file##*/}; touch $to; mount --bind $file $to; done
      mount -o remount,bind,ro ${bare}; mount --rbind ${bare} ${root}`;
    const holder = hold(followHolder(withMounts(script, holderCommand({ dataDir }))));
    await succeeded(holder);
    expect((await readdir(dataDir)).filter((name) => name.startsWith("postgresql-"))).toHaveLength(1);
    await holder.close();
    await expectQuiet(dataDir);
    const again = hold(followHolder(withMounts(script, holderCommand({ dataDir }))));
    await succeeded(again);
  });
});

describeIf(whyNoOtherUsers(), "as other users", () => {
  const nobody = 65534;
  const asNobody = [setpriv, `--reuid=${nobody}`, `--regid=${nobody}`, "--clear-groups"];

  /** A command run as nobody, who gets to the checkout and to Node through mounts when their folders are closed to him. */
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
    // Every folder above becomes a passage.
    const script = closed.map((place) => `mkdir -p ${scratch}/hold; mount --bind ${place} ${scratch}/hold; mount -t tmpfs -o mode=755 none ${join("/", place.split("/")[1] ?? "")}; mkdir -p ${place}; mount --move ${scratch}/hold ${place}`).join("; ");
    return script === "" ? [...command] : withMounts(script, command, true);
  }

  it("runs as a plain user, and leaves no orphan after kill -9", async () => {
    const home = join(scratch, "nobody");
    await mkdir(home);
    execFileSync("chown", [String(nobody), home]);
    const dataDir = join(home, "data");
    const holder = startHolder({ dataDir }, openedTo(asNobody));
    await succeeded(holder);
    expect((await stat(join(dataDir, "pgdata"))).uid).toBe(nobody);
    await holder.kill();
    await vi.waitFor(
      () => {
        expect(postgresIn(dataDir)).toEqual([]);
      },
      { timeout: 5000 },
    );
    const again = hold(startHolder({ dataDir }, openedTo(asNobody)));
    await succeeded(again);
    await again.close();
    await expectQuiet(dataDir);
    // Root on the directory of a plain user runs it as that user.
    const asRoot = hold(startHolder({ dataDir }));
    await succeeded(asRoot);
    expect((await stat(join(dataDir, "pgdata", "postmaster.pid"))).uid).toBe(nobody);
  });

  it("says when a plain user may not write", async () => {
    const dataDir = join(scratch, "of-root");
    await mkdir(dataDir);
    for (const path of [dataDir, join(dataDir, "below")]) {
      expect(await failed(hold(startHolder({ dataDir: path }, openedTo(asNobody))))).toMatchObject({ code: "data_dir_unwritable", message: holding(path) });
    }
  });

  it("runs as root where user namespaces are forbidden, as a user without rights", async () => {
    const dataDir = join(scratch, "no-namespaces");
    // What containers do by seccomp, the loss of the program does here.
    const command = withMounts("mount --bind /bin/false /usr/bin/unshare", holderCommand({ dataDir }), true);
    const holder = followHolder(command);
    await succeeded(holder);
    expect((await stat(join(dataDir, "pgdata"))).uid).not.toBe(0);
    expect(await mode(dataDir)).toBe("700");
    await holder.kill();
    await vi.waitFor(
      () => {
        expect(postgresIn(dataDir)).toEqual([]);
      },
      { timeout: 5000 },
    );
  });

  it("copies binaries that PostgreSQL's user cannot reach", async () => {
    const { root } = await findBinaries(process.platform, process.arch);
    const closed = join(scratch, "closed");
    const dataDir = join(scratch, "closed-binaries");
    await mkdir(closed);
    // The package below a folder of someone who lets nobody else in; real root gets there, root of a user namespace does not.
    const script = `
      mount -t tmpfs -o mode=700,uid=12345 none ${closed}; cp -r ${dirname(root)}/dist ${dirname(root)}/package.json ${closed}
      mkdir ${closed}/native; mount --bind ${root} ${closed}/native; mount --rbind ${closed} ${dirname(root)}`;
    const holder = hold(followHolder(withMounts(script, holderCommand({ dataDir }), true)));
    await succeeded(holder);
    expect((await readdir(dataDir)).filter((name) => name.startsWith("postgresql-"))).toHaveLength(1);
  });

  it("says when no user but root can get at the data directory", async () => {
    const home = join(scratch, "private-home");
    await mkdir(home, { mode: 0o700 });
    execFileSync("chown", ["12345", home]);
    const dataDir = join(home, "data");
    const error: unknown = await openDatabase({ dataDir, log: recordingLog() }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ code: "data_dir_unreachable", message: holding(dataDir) });
  });
});
