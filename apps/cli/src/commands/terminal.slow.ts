import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noChromium, startTestService, type TestService } from "../testing/shoal.ts";
import { noScript, onTerminal as runOnTerminal } from "../testing/terminal.ts";

const withoutScript = noScript();
const missing = withoutScript ?? (await noChromium());

describe.skipIf(withoutScript)(
  `on a terminal${withoutScript === undefined ? "" : ` (skipped: ${withoutScript})`}`,
  () => {
    let test: TestService;
    beforeAll(async () => {
      test = await startTestService();
    });
    afterAll(() => test.close());

    const onTerminal = (args: readonly string[], { env = {}, ...options }: Parameters<typeof runOnTerminal>[1] = {}) =>
      runOnTerminal(args, { ...options, env: { ...test.env, ...env } });
    /** Runs a command successfully; `#` replaces the escape character. */
    async function shown(args: readonly string[], options: Parameters<typeof onTerminal>[1] = {}): Promise<string> {
      const run = onTerminal(args, options);
      expect(await run.status, run.screen()).toBe(0);
      return run.screen().replaceAll("\r\n", "\n").replaceAll("\u001b", "#");
    }

    it("confirms a deletion and accepts no, yes and Ctrl-C", async () => {
      await test.json("profiles", "create", "--name", "kept");
      for (const [keys, status, end] of [
        ["n", 1, "Nothing was changed."],
        ["\u0003", 130, "Nothing was changed."],
        ["y", 0, "Deleted profile kept."],
      ] as const) {
        const run = onTerminal(["profiles", "delete", "kept"]);
        await expect.poll(() => run.screen()).toContain("Delete profile kept and its saved states?");
        run.type(keys);
        expect(await run.status).toBe(status);
        expect(run.screen()).toContain(end);
        expect((await test.run("profiles", "get", "kept")).status).toBe(status === 0 ? 4 : 0);
      }
    });

    it("confirms only a destructive value", async () => {
      await test.json("projects", "create", "research");
      expect(await shown(["projects", "update", "research", "--status", "active"])).not.toContain("?");
      for (const [keys, status, state] of [
        ["n", 1, "active"],
        ["y", 0, "archived"],
      ] as const) {
        const run = onTerminal(["projects", "update", "research", "--status", "archived"]);
        await expect
          .poll(() => run.screen())
          .toContain("Archive project research? Its keys stop working until it is active again.");
        run.type(keys);
        expect(await run.status).toBe(status);
        expect(await test.json("projects", "get", "research")).toMatchObject({ status: state });
      }
    });

    it("fits tables to the terminal, with relative times and bold headings", async () => {
      const long = "a name with spaces and far more than sixty characters so that no narrow terminal has room for it";
      const { id } = (await test.json("profiles", "create", "--name", long)) as { id: string };
      expect(await shown(["profiles", "list"], { columns: 60 })).toMatch(
        new RegExp(
          `^#\\[1mID {24}NAME {20,24}CREATED#\\[22m\n${id}  a name with spaces [^\n]*…  (now|\\d+ \\w+ ago)\n$`,
        ),
      );
      expect(await shown(["profiles", "list"], { columns: 200, env: { NO_COLOR: "1" } })).toMatch(
        new RegExp(`^ID {24}NAME +CREATED\n${id}  ${long}  (now|\\d+ \\w+ ago)\n$`),
      );
      expect(await shown(["profiles", "list", "--no-color"], { env: { NO_COLOR: "" } })).toMatch(/^ID /);
      expect(await shown(["profiles", "get", id, "--no-color"])).toMatch(
        /\ncreated_at {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\dZ \((now|\d+ \w+ ago)\)\n$/,
      );
      await test.run("profiles", "delete", id, "--yes");
    });

    it("prompts for a key without echoing it", async () => {
      const env = { SHOAL_CONFIG_DIR: join(test.folder, "config"), SHOAL_KEYCHAIN: "0" };
      const run = onTerminal(["login", "--base-url", test.service.baseUrl], { env });
      await expect.poll(() => run.screen()).toContain(`API key for ${test.service.baseUrl}`);
      run.type(`${test.service.apiKey}\r`);
      expect(await run.status).toBe(0);
      expect(run.screen()).toContain(`Logged in to ${test.service.baseUrl} as context default.`);
      expect(run.screen()).not.toContain(test.service.apiKey);
      const stopped = onTerminal(["login", "--base-url", test.service.baseUrl], { env });
      await expect.poll(() => stopped.screen()).toContain("API key for");
      stopped.type("\u0003");
      expect(await stopped.status).toBe(130);
    });

    it("prompts for secret values without echoing them", async () => {
      const create = ["credentials", "create", "--name", "asked", "--domain", "example.com"];
      const run = onTerminal([...create, "--value", "username=ada", "--value", "password", "--totp-secret", "-"]);
      await expect.poll(() => run.screen()).toContain("password");
      run.type("@hunter2\r");
      await expect.poll(() => run.screen()).toContain("--totp-secret");
      run.type("JBSWY3DPEHPK3PXP\r");
      expect(await run.status, run.screen()).toBe(0);
      expect(run.screen()).not.toMatch(/hunter2|JBSWY3/);
      expect(await test.json("credentials", "get", "asked")).toMatchObject({
        value_keys: ["password", "username"],
        has_totp_secret: true,
      });
    });

    it("wraps help at the width of the terminal", async () => {
      const text = await shown(["browsers", "create", "--help", "--no-color"], { columns: 60 });
      expect(
        text
          .slice(0, text.indexOf("Examples:"))
          .split("\n")
          .filter((line) => line.length > 60),
      ).toEqual([]);
    });

    describe.skipIf(missing)(`with files${missing === undefined ? "" : ` (skipped: ${missing})`}`, () => {
      beforeAll(async () => {
        await test.json("browsers", "create", "--name", "files", "--timeout-seconds", "86400");
        writeFileSync(join(test.folder, "big.bin"), Buffer.alloc(200_000_000));
      });
      it("prints a short result for a new session, with the next commands", async () => {
        const text = await shown(["browsers", "create", "--name", "short", "--no-color"]);
        expect(text).toMatch(
          /^Started session short\.\n\nID {10}\w{24}\nLive view {3}http:\S+\nOpen page {3}shoal open/,
        );
        expect(text).not.toContain("cdp_ws_url");
        await test.run("browsers", "delete", "short");
      });

      const bar = /\r#\[2Kbig\.bin {2}[█░]{20} +\d+% {2}[\d.]+ MB of 200\.0 MB/;

      it("shows and erases a progress bar for uploads and downloads", async () => {
        const up = await shown([
          "browsers",
          "fs",
          "upload",
          "files",
          join(test.folder, "big.bin"),
          "--to",
          "/home/shoal",
        ]);
        expect(up).toMatch(bar);
        expect(up).toMatch(/\r#\[2KUploaded 1 file \(200\.0 MB\) to \/home\/shoal\.\n$/);
        const down = await shown([
          "browsers",
          "fs",
          "read-file",
          "files",
          "/home/shoal/big.bin",
          "-f",
          join(test.folder, "back.bin"),
        ]);
        expect(down).toMatch(bar);
        expect(down).toMatch(/\r#\[2KSaved \S+ \(200\.0 MB\)\.\n$/);
        for (const line of [up, down].flatMap((text) => text.split(/\r|\n/)))
          expect(line.length).toBeLessThanOrEqual(120);
      });

      it("escapes control characters of a file, except with -f -", async () => {
        writeFileSync(join(test.folder, "steer.txt"), "a\u001b]0;title\u0007b\tc\n");
        expect(
          (await test.run("browsers", "fs", "upload", "files", join(test.folder, "steer.txt"), "--to", "/home/shoal"))
            .status,
        ).toBe(0);
        expect(await shown(["browsers", "fs", "read-file", "files", "/home/shoal/steer.txt"])).toBe(
          "a\\x1b]0;title\\x07b\tc\n",
        );
        expect(await shown(["browsers", "fs", "read-file", "files", "/home/shoal/steer.txt", "-f", "-"])).toBe(
          "a#]0;title\u0007b\tc\n",
        );
        const zip = onTerminal(["browsers", "fs", "download-dir-zip", "files", "/home/shoal"]);
        expect(await zip.status).toBe(2);
        expect(zip.screen()).toContain("Refusing to write binary data to a terminal.");
      });

      it("stops a watch on Ctrl-C", async () => {
        const run = onTerminal(["browsers", "fs", "watch", "files", "/home/shoal"]);
        await expect.poll(() => run.screen()).toContain("Watching /home/shoal. Press Ctrl-C to stop.");
        run.type("\u0003");
        expect(await run.status).toBe(130);
        expect(run.screen()).toContain("Stopped the watch.");
      });

      it("writes typed input to a file", async () => {
        const run = onTerminal(["browsers", "fs", "write-file", "files", "/home/shoal/typed.txt"]);
        await expect.poll(() => run.screen()).toContain("Reading from the terminal");
        run.type("typed\n\u0004");
        expect(await run.status).toBe(0);
        expect((await test.run("browsers", "fs", "read-file", "files", "/home/shoal/typed.txt")).stdout).toBe(
          "typed\n",
        );
      });
    });
  },
);
