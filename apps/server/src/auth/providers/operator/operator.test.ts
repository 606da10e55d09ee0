import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { waitLimitMs } from "@shoal/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { itemForDomain } from "../domain-match.ts";
import { createEnvProvider } from "./env.ts";
import { createExecProvider } from "./exec.ts";
import { createFileProvider } from "./file.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-providers-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});
const soon = () => AbortSignal.timeout(waitLimitMs);
const failureOf = (work: Promise<unknown>) =>
  work.then(
    () => "it succeeded",
    (error: unknown) => (error as Error).message,
  );

describe("variables of the server", () => {
  const provider = createEnvProvider("LOGIN_", {
    LOGIN_SHOP_USERNAME: "ada",
    LOGIN_SHOP_PASSWORD: "secret",
    LOGIN_SHOP_URL: "https://shop.example.com",
    LOGIN_SHOP_TOTP: "JBSWY3DPEHPK3PXP",
    OTHER_SHOP_PASSWORD: "not this",
  });

  it("become items by their prefix", async () => {
    const found = itemForDomain(await provider.items(soon()), "shop.example.com");
    expect(found).toMatchObject({ path: "env/SHOP" });
    expect(await provider.read({ path: "env/SHOP" }, soon())).toEqual({
      values: { username: "ada", password: "secret" },
      totp: { secret: "JBSWY3DPEHPK3PXP" },
      urls: [expect.stringContaining("shop.example.com")],
    });
    expect(await provider.read({ path: "env/OTHER_SHOP" }, soon())).toBeUndefined();
  });
});

describe("files of the operator", () => {
  let root: string;
  beforeAll(() => {
    root = join(folder, "files");
    mkdirSync(join(root, "team"), { recursive: true });
    const put = (name: string, text: string, mode = 0o600) => {
      writeFileSync(join(root, name), text);
      chmodSync(join(root, name), mode);
    };
    put("shop.yaml", "username: ada\npassword: secret\nurls: [https://shop.example.com, '*.shop.example.org']\n");
    put("team/wiki.example.com.json", JSON.stringify({ user: "bob", pass: 1234 }));
    put("open.json", JSON.stringify({ password: "shown" }), 0o644);
    put("broken.json", '{"password": "quoted-in-errors"');
    const levels = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
    const aliases = levels.map(
      (name, index) => `${name}: &${name} [*${levels[index - 1] ?? "x"}, *${levels[index - 1] ?? "x"}]`,
    );
    put("bomb.yaml", ["x: &x [y, y]", ...aliases, ""].join("\n"));
    writeFileSync(join(folder, "outside.json"), JSON.stringify({ password: "outside" }), { mode: 0o600 });
    symlinkSync(join(folder, "outside.json"), join(root, "link.json"));
  });

  it("become items, and links are not followed", async () => {
    const provider = createFileProvider(root);
    const items = await provider.items(soon());
    expect(items.map(({ path }) => path)).toEqual([
      "files/bomb",
      "files/broken",
      "files/open",
      "files/shop",
      "files/team/wiki.example.com",
    ]);
    expect(itemForDomain(items, "a.shop.example.org")).toMatchObject({ path: "files/shop" });
    expect(itemForDomain(items, "wiki.example.com")).toMatchObject({ path: "files/team/wiki.example.com" });
    expect(await provider.read({ path: "files/team/wiki.example.com" }, soon())).toEqual({
      values: { username: "bob", password: "1234" },
    });
    for (const path of ["files/link", "files/../outside", "files/nothing", "other/shop"])
      expect(await provider.read({ path }, soon())).toBeUndefined();
  });

  it("of one path are left out, and reading the path names them", async () => {
    const twice = join(folder, "twice");
    mkdirSync(twice);
    writeFileSync(join(twice, "shop.json"), JSON.stringify({ password: "of json" }), { mode: 0o600 });
    writeFileSync(join(twice, "shop.yaml"), "password: of yaml\nurl: yaml.example.com\n", { mode: 0o600 });
    const provider = createFileProvider(twice);
    expect(await provider.items(soon())).toEqual([]);
    expect(await failureOf(provider.read({ path: "files/shop" }, soon()))).toBe(
      "shop.json and shop.yaml have the same path. Rename one.",
    );
  });

  it("are refused when other users may read them, or when they are invalid, without their content", async () => {
    const provider = createFileProvider(root);
    expect(await failureOf(provider.read({ path: "files/open" }, soon()))).toMatch(/Other users may read open.json/);
    for (const path of ["files/broken", "files/bomb"]) {
      const message = await failureOf(provider.read({ path }, soon()));
      expect(message).toMatch(/is not a JSON or YAML file/);
      expect(message).not.toContain("quoted-in-errors");
    }
    expect(await failureOf(createFileProvider(join(folder, "none")).test(soon()))).toMatch(/does not exist/);
  });
});

describe("a command of the operator", () => {
  const script = (name: string, text: string) => {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o700 });
    return path;
  };

  it("gets the path as its last argument and an empty environment, and prints JSON", async () => {
    const read = script(
      "json.sh",
      `printf '{"username":"%s","password":"%s"}' "$*" "$(/usr/bin/env | /usr/bin/tr '\\n' ' ')"`,
    );
    const values = await createExecProvider({ read: [read, "--as"], list: undefined }).read(
      { path: "command/a b/$(id)" },
      soon(),
    );
    expect(values?.values.username).toBe("--as a b/$(id)");
    expect(values?.values.password).not.toMatch(/PATH=.*\/root|HOME=/);
  });

  it("refuses paths that a program could misunderstand", async () => {
    const provider = createExecProvider({ read: ["/bin/echo"], list: undefined });
    for (const path of ["command/--help", "command/../x", "command/a/./b", "command/", "-x"])
      expect(await failureOf(provider.read({ path }, soon()))).toMatch(/The path must not/);
  });

  it("is killed with its children at the deadline and after too much output", async () => {
    const child = script("child-of-slow.sh", "sleep 987; exit");
    const slow = script("slow.sh", `${child} &\nwait`);
    const children = () => processesWith(child);
    const provider = createExecProvider({ read: [slow], list: undefined });
    const deadline = new AbortController();
    const reading = failureOf(provider.read({ path: "x" }, deadline.signal));
    await expect.poll(children).toBe(1);
    // As `AbortSignal.timeout` does.
    deadline.abort(new DOMException("The operation was aborted due to timeout", "TimeoutError"));
    expect(await reading).toMatch(/timeout/);
    await expect.poll(children).toBe(0);
    const endless = createExecProvider({ read: ["/usr/bin/yes"], list: undefined });
    expect(await failureOf(endless.read({ path: "x" }, soon()))).toMatch(/more than 1048576 bytes/);
    expect(
      await createExecProvider({ read: ["/bin/false"], list: undefined }).read({ path: "x" }, soon()),
    ).toBeUndefined();
    const missing = createExecProvider({ read: [join(folder, "none")], list: undefined });
    expect(await failureOf(missing.read({ path: "x" }, soon()))).toMatch(/cannot be started/);
  });
});

/** Counts processes whose command line contains a text. */
function processesWith(text: string): number {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text);
      } catch {
        return false;
      }
    }).length;
}

const hasPass = ["/usr/bin/pass", "/usr/bin/gpg"].every((path) => existsSync(path));
if (!hasPass && process.env.SHOAL_REQUIRE_ALL === "1") throw new Error("pass is missing: apt install pass");

describe.skipIf(!hasPass)(`pass${hasPass ? "" : " (skipped: apt install pass)"}`, () => {
  const env = () => ({ HOME: folder, GNUPGHOME: join(folder, "gnupg"), PATH: "/usr/bin:/bin" });
  beforeAll(() => {
    mkdirSync(join(folder, "gnupg"), { mode: 0o700 });
    const gpg = (...args: string[]) =>
      execFileSync("/usr/bin/gpg", ["--batch", ...args], { env: env(), stdio: "pipe" });
    gpg("--passphrase", "", "--quick-generate-key", "shoal@test.example", "default", "default", "never");
    const pass = (args: string[], input = "") =>
      execFileSync("/usr/bin/pass", args, { env: env(), input, stdio: "pipe" });
    pass(["init", "shoal@test.example"]);
    const entry =
      "correct horse\nlogin: ada\nurl: https://shop.example.com\notpauth://totp/shop?secret=JBSWY3DPEHPK3PXP\n";
    pass(["insert", "--multiline", "logins/shop.example.com"], entry);
  });
  afterAll(() => {
    execFileSync("/usr/bin/gpgconf", ["--kill", "all"], { env: env(), stdio: "pipe" });
  });

  it("serves its entries", async () => {
    const variables = Object.entries(env()).map(([name, value]) => `${name}=${value}`);
    const list = script(
      "list-pass.sh",
      `cd "${folder}/.password-store" && /usr/bin/find . -name '*.gpg' | /usr/bin/sed 's,^\\./,,; s,\\.gpg$,,'`,
    );
    const provider = createExecProvider({
      read: ["/usr/bin/env", ...variables, "/usr/bin/pass", "show"],
      list: [list],
    });
    expect(await provider.test(soon())).toEqual([{ id: "command", name: "command" }]);
    const found = itemForDomain(await provider.items(soon()), "shop.example.com");
    expect(found).toMatchObject({ path: "command/logins/shop.example.com" });
    expect(await provider.read({ path: found?.path ?? "" }, soon())).toEqual({
      values: { username: "ada", password: "correct horse" },
      totp: { secret: "otpauth://totp/shop?secret=JBSWY3DPEHPK3PXP" },
      urls: [expect.stringContaining("shop.example.com")],
    });
    expect(await provider.read({ path: "command/logins/none" }, soon())).toBeUndefined();
  });

  function script(name: string, text: string): string {
    const path = join(folder, name);
    writeFileSync(path, `#!/bin/sh\n${text}\n`, { mode: 0o700 });
    return path;
  }
});
