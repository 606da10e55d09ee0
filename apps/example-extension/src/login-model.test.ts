import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import { afterEach, expect, it, vi } from "vitest";
import { createLoginModel } from "./login-model.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

const node = {
  frame: 0,
  parent: -1,
  role: "textbox",
  name: "",
  tag: "input",
  attributes: {},
  states: [],
  box: { x: 0, y: 0, width: 9, height: 9 },
};

it("sends visible nodes to the model server with the operator's key, and returns its names", async () => {
  const seen: unknown[] = [];
  const server = createServer((request, response) => {
    void json(request).then((body) => {
      seen.push(request.headers.authorization, body);
      response.end('{"names":{"e1":"username"}}');
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  vi.stubEnv("LOGIN_MODEL_KEY", "model-key");
  vi.stubEnv("LOGIN_MODEL_URL", `http://127.0.0.1:${String((server.address() as AddressInfo).port)}/`);
  const names = await createLoginModel().nameNodes({
    frames: [],
    nodes: [
      { ...node, ref: "e1" },
      { ...node, ref: "e2", hidden: "off_screen" },
    ],
    left_out: 0,
    viewport: { width: 10, height: 10 },
  });
  server.closeAllConnections();
  server.close();
  expect(names).toEqual({ e1: "username" });
  expect(seen).toMatchObject(["Bearer model-key", { nodes: [{ ref: "e1" }] }]);
});
