import { expect, it } from "vitest";
import { type TryField, tryRequest } from "./try-request.ts";

const endpoint = { method: "POST", path: "/browsers/{id}/files" };
const id: TryField = { place: "path", name: "id", value: "a/b" };
const requestOf = (...fields: TryField[]) => tryRequest(endpoint, [id, ...fields], "https://shoal.example/api");

it("encodes parameters, and omits empty ones", () => {
  const { init, url } = requestOf(
    { place: "query", name: "path", value: "/a b" },
    { place: "query", name: "limit", value: "" },
    { place: "header", name: "Idempotency-Key", value: "k" },
  );
  expect(url).toBe("https://shoal.example/api/browsers/a%2Fb/files?path=%2Fa+b");
  expect(init).toEqual({ method: "POST", headers: { "Idempotency-Key": "k" } });
});

it("sends JSON, forms and files, each with a command that does the same", () => {
  const json = requestOf({ place: "json", name: "Body", value: '{ "name": "it\'s" }' });
  expect([json.init.body, json.init.headers]).toEqual(['{"name":"it\'s"}', { "content-type": "application/json" }]);
  expect(json.curl).toContain(`-H "Authorization: Bearer $SHOAL_API_KEY"`);
  expect(json.curl).toContain(`-d '{"name":"it'\\''s"}'`);
  const file = new File(["x"], "x.txt");
  const form = requestOf({ place: "part", name: "files[0][file]", value: file });
  expect((form.init.body as FormData).get("files[0][file]")).toBeInstanceOf(File);
  // The browser adds the boundary.
  expect(form.init.headers).toEqual({});
  expect(form.curl).toContain("-F 'files[0][file]=@x.txt'");
  expect(requestOf({ place: "bytes", name: "File", value: file }).init).toMatchObject({
    body: file,
    headers: { "content-type": "application/octet-stream" },
  });
});

it("refuses missing and invalid values before it sends", () => {
  expect(() => tryRequest(endpoint, [{ ...id, value: "" }], "")).toThrow("Enter id.");
  expect(() => requestOf({ place: "json", name: "Body", value: "{" })).toThrow("The body is not valid JSON");
});
