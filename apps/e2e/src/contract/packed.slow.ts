import { build } from "esbuild";
import { globSync, readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { nodePackage, noOtherRuntimes, packedProject, type PackedProject } from "../testing/packed.ts";

const profile = { id: "p1", name: "work", created_at: "2026-01-31T12:00:00.000Z" };

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://x");
  const reply = (status: number, body: unknown, headers = {}) =>
    response.writeHead(status, { "content-type": "application/json", ...headers }).end(JSON.stringify(body));
  request.on("end", () => {
    if (request.method === "PUT") response.writeHead(201).end();
    else if (pathname === "/profiles" && searchParams.has("offset")) reply(200, [{ ...profile, id: "p2" }]);
    else if (pathname === "/profiles") reply(200, [profile], { "x-has-more": "true", "x-next-offset": "1" });
    else if (pathname === "/profiles/missing") reply(404, { code: "not_found", message: "No such profile." });
    else if (pathname === "/profiles/odd") reply(200, { ...profile, id: 7 });
    else if (pathname === "/ping") reply(200, { pong: true, profile: { ...profile, name: 7 } });
    else if (pathname.endsWith("/events"))
      response
        .writeHead(200, { "content-type": "text/event-stream" })
        .end('id: 1\ndata: {"type":"CREATE","path":"/a"}\n\n');
    else if (pathname.endsWith("/read_file"))
      response.writeHead(200, { "content-type": "application/octet-stream" }).end("bytes");
    else reply(200, profile);
  });
  request.resume();
}

const expected = {
  get: "work",
  list: ["p1", "p2"],
  missing: "not_found",
  odd: "body.id",
  events: ["/a"],
  download: "bytes",
  saved: [5, "bytes"],
  own: "body.profile.name",
  alone: "p1",
  openapi: "3.1.0",
  app: ["demo"],
};
const expectedOfFake = {
  made: ["research", "hello"],
  refused: "name_taken",
  first: "profiles.create",
  listed: ["work"],
};
const expectedOfRouter = { own: { pong: true }, document: ["/ping"] };
/** The fake is the service, which needs it. */
const leastNodeOfFake = 24;

describe("packages, installed from their tarballs into an empty project", () => {
  let project: PackedProject;
  let server: Server;
  let baseUrl = "";
  beforeAll(async () => {
    project = await packedProject();
    server = createServer(answer);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
    await project[Symbol.asyncDispose]();
  });

  it(`run in this Node (${process.versions.node})`, async () => {
    expect(JSON.parse(await project.run(process.execPath, ["use.mjs", baseUrl]))).toEqual(expected);
  });

  it("load only one file each, and no zod of the project", async () => {
    const script =
      'const { registerHooks } = await import("node:module"); const seen = []; registerHooks({ load(url, context, next) { seen.push(url); return next(url, context); } }); await import("@shoal/client"); console.log(JSON.stringify(seen));';
    const seen = JSON.parse(await project.run(process.execPath, ["--input-type=module", "-e", script])) as string[];
    const names = seen.filter((url) => url.startsWith("file:")).map((url) => url.replace(/^.*node_modules\//, ""));
    expect(names.filter((name) => !/^@shoal\/\w+\/dist\/bundle\/(?:index|chunk-\w+)\.js$/.test(name))).toEqual([]);
    expect(names.filter((name) => name.endsWith("index.js")).sort()).toEqual(
      ["client", "contract", "schemas", "transport"].map((name) => `@shoal/${name}/dist/bundle/index.js`),
    );
  });

  it("have no Node imports in files for other runtimes", () => {
    const files = globSync("node_modules/@shoal/{schemas,contract,transport,client}/dist/**/*.js", {
      cwd: project.folder,
    }).filter((path) => !/dist[\\/]node[\\/]/.test(path));
    expect(files.length).toBeGreaterThan(100);
    expect(
      files.filter((path) =>
        /(?:from|import|import\(|require\()\s*["']node:/.test(readFileSync(join(project.folder, path), "utf8")),
      ),
    ).toEqual([]);
  });

  it("answer users' tests with the fake", async () => {
    const env = { XDG_CACHE_HOME: join(project.folder, "cache") };
    expect(JSON.parse(await project.run(process.execPath, ["test.mjs"], env))).toEqual(expectedOfFake);
  });

  it("serve custom operations", async () => {
    expect(JSON.parse(await project.run(process.execPath, ["serve.mjs"]))).toEqual(expectedOfRouter);
  });

  it("have the command, which needs no local service", async () => {
    // The fake comes with the service.
    const alone = await project.installAlone("cli");
    const env = {
      SHOAL_API_KEY: "sk_secret_0123456789",
      SHOAL_BASE_URL: baseUrl,
      SHOAL_CONFIG_DIR: project.folder,
      SHOAL_DATA_DIR: project.folder,
      SHOAL_KEYCHAIN: "0",
    };
    const command = (...args: string[]) =>
      project.run(process.execPath, [join(alone, "node_modules/@shoal/cli/dist/shoal.js"), ...args], env);
    expect(JSON.parse(await command("profiles", "get", "p1", "-o", "json"))).toEqual(profile);
    expect(await command("browsers", "fs", "read-file", "b1", "/a")).toBe("bytes");
    await expect(command("profiles", "get", "missing")).rejects.toMatchObject({
      code: 4,
      stderr: expect.stringContaining("No such profile.") as unknown,
    });
    await expect(command("doctor")).rejects.toMatchObject({
      stderr: expect.stringContaining("npm install --global @shoal/server") as unknown,
    });
  });

  const reason = nodePackage() === undefined ? " (npm has no Node for this platform)" : "";
  it.skipIf(nodePackage() === undefined).each([22, 26])(`run in Node %i${reason}`, async (major) => {
    const node = await project.installNode(major);
    expect(await project.run(node, ["--version"])).toMatch(new RegExp(`^v${major}\\.`));
    expect(JSON.parse(await project.run(node, ["use.mjs", baseUrl]))).toEqual(expected);
    expect(JSON.parse(await project.run(node, ["serve.mjs"]))).toEqual(expectedOfRouter);
    if (major < leastNodeOfFake) return;
    const env = { XDG_CACHE_HOME: join(project.folder, "cache") };
    expect(JSON.parse(await project.run(node, ["test.mjs"], env))).toEqual(expectedOfFake);
  });

  it.skipIf(noOtherRuntimes).each(["bun", "deno"] as const)(
    `run in %s${noOtherRuntimes === undefined ? "" : ` (skipped: ${noOtherRuntimes})`}`,
    async (name) => {
      const [program, ...args] = await project.installRuntime(name);
      expect(
        JSON.parse(await project.run(program, [...args, "use.mjs", baseUrl], { DENO_DIR: project.folder })),
      ).toEqual(expected);
    },
  );

  it("run when bundled for browsers, which selects the other build", async () => {
    const { metafile } = await build({
      stdin: {
        contents: `import { Shoal } from "@shoal/client";
          const shoal = new Shoal({ baseUrl: ${JSON.stringify(baseUrl)}, apiKey: "sk_secret_0123456789" });
          const paths = [];
          for await (const event of shoal.browsers.fs.watch.events("b1", "w1")) paths.push(event.path);
          console.log(JSON.stringify([(await shoal.profiles.get("p1")).name, paths, await shoal.profiles.get("odd").catch((error) => error.path)]));`,
        resolveDir: project.folder,
      },
      outfile: join(project.folder, "bundled.mjs"),
      bundle: true,
      minify: true,
      format: "esm",
      platform: "browser",
      metafile: true,
      logLevel: "silent",
    });
    expect(Object.keys(metafile.inputs).filter((path) => path.includes("dist/bundle/"))).toEqual([]);
    expect(JSON.parse(await project.run(process.execPath, ["bundled.mjs"]))).toEqual(["work", ["/a"], "body.id"]);
  });

  it.each(["nodenext", "bundler", "node"])(
    "have types that tsconfig.%s.json resolves, and that report errors",
    async (resolution) => {
      expect(await project.typeErrors(`tsconfig.${resolution}.json`)).toBe("");
    },
  );
});
