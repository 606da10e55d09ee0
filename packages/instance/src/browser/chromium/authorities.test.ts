import { execFile } from "node:child_process";
import { lstat, mkdir, mkdtemp, readdir, rm, symlink } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { findProgram } from "../../system/find-program.ts";
import { trustAuthorities } from "./authorities.ts";

const run = promisify(execFile);
const read = (file: string) =>
  readFileSync(new URL(`../../../../../tools/certificates/${file}`, import.meta.url), "utf8");
const authority = read("authority.pem");
const other = read("other-authority.pem");

const isMissing =
  process.env.SHOAL_REQUIRE_ALL !== "1" &&
  (process.platform !== "linux" || (await findProgram("certutil")) === undefined);

async function authoritiesIn(database: string): Promise<string[]> {
  const list = async (...options: string[]) =>
    (await run("certutil", ["-d", `sql:${database}`, "-L", ...options])).stdout;
  const names = [...(await list()).matchAll(/^(authority-\d+) +(\S+)/gm)];
  return Promise.all(
    names.map(
      async ([, name = "", trust = ""]) =>
        `${/Subject: "CN=Shoal tests: (.*)"/.exec(await list("-n", name))?.[1] ?? "?"} ${trust}`,
    ),
  ).then((found) => found.sort());
}

describe.skipIf(isMissing)(
  `the authorities of a home directory${isMissing ? " (skipped, needs Linux and certutil: apt install libnss3-tools)" : ""}`,
  () => {
    let home: string;
    let database: string;
    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), "shoal authorities-"));
      database = join(home, ".pki/nssdb");
    });
    afterEach(() => rm(home, { recursive: true }));

    it("trusts only the latest authorities, only for servers, and removes them without a trace", async () => {
      await trustAuthorities(home, authority + other);
      expect(await authoritiesIn(database)).toEqual(["authority C,,", "other-authority C,,"]);
      await trustAuthorities(home, other);
      expect(await authoritiesIn(database)).toEqual(["other-authority C,,"]);
      expect((await readdir(database)).sort()).toEqual(["cert9.db", "key4.db", "pkcs11.txt"]);
      expect((await lstat(database)).mode & 0o77).toBe(0);
      await trustAuthorities(home, "");
      expect(await readdir(join(home, ".pki"))).toEqual([]);
    });

    it("keeps the previous authorities when new ones are invalid", async () => {
      await trustAuthorities(home, authority);
      await expect(
        trustAuthorities(home, `${other}-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n`),
      ).rejects.toThrow();
      expect(await authoritiesIn(database)).toEqual(["authority C,,"]);
    });

    it("never writes through a link that the session created", async () => {
      const elsewhere = join(home, "elsewhere");
      await mkdir(join(elsewhere, "nssdb"), { recursive: true });
      await symlink(elsewhere, join(home, ".pki"));
      await trustAuthorities(home, authority);
      expect([await readdir(join(elsewhere, "nssdb")), await authoritiesIn(database)]).toEqual([[], ["authority C,,"]]);
      await rm(database, { recursive: true });
      await symlink(join(elsewhere, "nssdb"), database);
      await trustAuthorities(home, other);
      expect([await readdir(join(elsewhere, "nssdb")), await authoritiesIn(database)]).toEqual([
        [],
        ["other-authority C,,"],
      ]);
    });
  },
);
