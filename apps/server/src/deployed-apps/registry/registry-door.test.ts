import { once } from "node:events";
import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  request as httpRequest,
  type ServerResponse,
} from "node:http";
import { type AddressInfo, createServer as createSocketServer } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it, onTestFinished } from "vitest";
import { isPackagePath, RegistryDoor } from "./registry-door.ts";
import { SdkPackages } from "./sdk-packages.ts";

interface Answer {
  readonly status: number | undefined;
  readonly body: string;
  readonly location: string | undefined;
  readonly cookies: readonly string[] | undefined;
}

/** A registry, and its door on a port, as the box sees it. */
async function openDoor(listener: RequestListener, path = "/npm/") {
  const requests: string[] = [];
  const registry = createServer((request, response) => {
    requests.push(`${request.method ?? ""} ${request.url ?? ""} ${request.headers.authorization ?? ""}`);
    listener(request, response);
  }).listen(0, "127.0.0.1");
  await once(registry, "listening");
  const origin = `http://127.0.0.1:${String((registry.address() as AddressInfo).port)}`;
  const upstream = { url: origin + path, authorization: "Bearer secret", isPython: false };
  const door = new RegistryDoor({
    upstreams: [upstream],
    npm: upstream,
    sdk: new SdkPackages(),
    authorities: undefined,
  });
  const box = createSocketServer(door.accept).listen(0, "127.0.0.1");
  await once(box, "listening");
  const { port } = box.address() as AddressInfo;
  onTestFinished(() => {
    door.close();
    registry.closeAllConnections();
    registry.close();
    box.close();
  });
  const ask = async (target: string, method = "GET", headers: Record<string, string> = {}): Promise<Answer> => {
    const request = httpRequest({ host: "127.0.0.1", port, method, path: target, headers }).end();
    const [answer] = (await once(request, "response")) as [IncomingMessage];
    const { location, "set-cookie": cookies } = answer.headers;
    return { status: answer.statusCode, body: await text(answer), location, cookies };
  };
  return { ask, origin, requests, local: `http://127.0.0.1:${String(port)}` };
}

it("adds the secret to reads of packages, and replaces the registry's origin in their descriptions", async () => {
  const { ask, local, origin, requests } = await openDoor((_request, response) => {
    response.writeHead(200, { "content-type": "application/json", "set-cookie": "session=1" });
    const start = `{"tarball":"${origin}/npm/ms/-/ms`;
    response.write(start.slice(0, 20));
    setImmediate(() => response.end(`${start.slice(20)}-1.0.0.tgz","other":"https://cdn.example/x.tgz"}`));
  });
  const { body, cookies, status } = await ask("/npm/@acme%2fms", "GET", {
    authorization: "Bearer stolen",
    cookie: "a=b",
  });
  expect([status, cookies, JSON.parse(body)]).toEqual([
    200,
    undefined,
    { tarball: `${local}/npm/ms/-/ms-1.0.0.tgz`, other: "https://cdn.example/x.tgz" },
  ]);
  expect(requests).toEqual(["GET /npm/@acme%2fms Bearer secret"]);
});

it("adds the SDK of the service to the versions of the registry, and leads to the registry for the rest", async () => {
  const { ask, local, origin, requests } = await openDoor((_request, response) => {
    const dist = { tarball: `${origin}/npm/@shoal/client/-/client-7.0.0.tgz` };
    response.end(JSON.stringify({ "dist-tags": { latest: "7.0.0" }, versions: { "7.0.0": { dist } } }));
  });
  const { body } = await ask("/.sdk/@shoal%2fclient");
  const { "dist-tags": tags, versions } = JSON.parse(body) as {
    "dist-tags": { latest: string };
    versions: Record<string, { dist: { tarball: string; integrity: string } }>;
  };
  expect(requests).toEqual(["GET /npm/@shoal%2fclient Bearer secret"]);
  expect(Object.keys(versions)).toEqual(["7.0.0", tags.latest]);
  expect(versions["7.0.0"]?.dist.tarball).toBe(`${local}/npm/@shoal/client/-/client-7.0.0.tgz`);
  const own = versions[tags.latest]?.dist.tarball ?? "";
  expect(own).toBe(`${local}/.sdk/@shoal/client/-/client-${tags.latest}.tgz`);
  expect(await ask(own.slice(local.length))).toMatchObject({ status: 200 });
  for (const path of ["@shoal%2fother", "@shoal/client/-/client-7.0.0.tgz"])
    expect(await ask(`/.sdk/${path}`)).toMatchObject({ status: 302, location: `${local}/npm/${path}` });
});

it.each([
  ["is down", (_request: IncomingMessage, response: ServerResponse) => void response.destroy()],
  ["lacks it", (_request: IncomingMessage, response: ServerResponse) => void response.writeHead(404).end("{}")],
  ["lies", (_request: IncomingMessage, response: ServerResponse) => void response.end('{"versions":[1]}')],
  ["floods", (_request: IncomingMessage, response: ServerResponse) => void response.end(`[${"{},".repeat(9e5)}{}]`)],
])("has the SDK when the registry %s", async (_how, listener) => {
  const { ask } = await openDoor(listener);
  const { body } = await ask("/.sdk/@shoal/client");
  expect(Object.keys((JSON.parse(body) as { versions: object }).versions)).toHaveLength(1);
});

it("passes redirects on, and follows none with the secret", async () => {
  const { ask, requests } = await openDoor((_request, response) => {
    response.writeHead(302, { location: "https://cdn.example/ms.tgz" }).end();
  });
  expect(await ask("/npm/ms/-/ms-1.0.0.tgz")).toMatchObject({ status: 302, location: "https://cdn.example/ms.tgz" });
  expect(requests).toHaveLength(1);
});

it.each([
  ["POST", "/npm/ms"],
  ["PUT", "/npm/ms"],
  ["DELETE", "/npm/ms"],
  ["GET", "/npm/-/whoami"],
  ["GET", "/npm/-/npm/v1/tokens"],
  ["GET", "/npm/"],
  ["GET", "/npm"],
  ["GET", "/admin/users"],
  ["GET", "/npm/../admin/users"],
  ["GET", "/npm/%2e%2e/admin"],
  ["GET", "/npm/ms/..%2f..%2fadmin"],
  ["GET", "/npm/%2d/whoami"],
  ["GET", "/npm/ms?write=true"],
  ["GET", "/.sdk/-/whoami"],
  ["GET", "/.sdk/@shoal/../../npm/-/whoami"],
  ["PUT", "/.sdk/@shoal%2fclient"],
  ["GET", "/npm/ms#x"],
  ["GET", "/npm//evil.example/x"],
  ["GET", "/npm/ms\\..\\x"],
  ["GET", "http://evil.example/npm/ms"],
  ["GET", "//evil.example/npm/ms"],
])("refuses %s %s", async (method, path) => {
  const { ask, requests } = await openDoor((_request, response) => response.end("{}"));
  expect((await ask(path, method)).status).toBeOneOf([404, 405]);
  expect(requests).toEqual([]);
});

it("refuses another name of the host, which it would put into descriptions", async () => {
  const { ask, requests } = await openDoor((_request, response) => response.end("{}"));
  expect((await ask("/npm/ms", "GET", { host: "evil.example" })).status).toBe(400);
  expect(requests).toEqual([]);
});

it.each(["ms", "ms/2.1.3", "@acme/ms", "@acme%2Fms", "ms/-/ms-2.1.3.tgz", "download/@acme/ms/1.0.0/abc", "simple/"])(
  "knows %s as the path of a package",
  (path) => {
    expect(isPackagePath(path)).toBe(true);
  },
);
