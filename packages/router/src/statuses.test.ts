import { Readable } from "node:stream";
import { describe, expect, it } from "vitest";
import { ServiceError, withStatus } from "./index.ts";
import { adapters, answerOf } from "./testing/servers.ts";

const post = { method: "POST" };
const film = "/things/x/video";

describe.each(adapters)("answers with several successes over $name", ({ start }) => {
  it("have no body when the handler returns nothing", async () => {
    const free: { id: string }[] = [];
    const { url } = await start({ lease: () => free[0] });
    expect(await answerOf(fetch(`${url}/leases`, post))).toMatchObject({ status: 204, body: undefined });
    free.push({ id: "b1" });
    expect(await answerOf(fetch(`${url}/leases`, post))).toMatchObject({ status: 200, body: { id: "b1" } });
  });

  it("have Retry-After, in whole seconds", async () => {
    const { url } = await start({ render: () => withStatus(202, undefined, { retryAfterSeconds: 0.2 }) });
    const { body, headers, status } = await answerOf(fetch(url + film));
    expect([status, body, headers.get("retry-after"), headers.get("content-length")]).toEqual([
      202,
      undefined,
      "1",
      "0",
    ]);
  });

  it("have the status that the handler selects, by default the first", async () => {
    const { url } = await start({
      run: ({ headers }) =>
        headers["x-later"] === undefined ? { state: "done" } : withStatus(202, { state: "queued" }),
    });
    expect(await answerOf(fetch(`${url}/runs`, post))).toMatchObject({ status: 200, body: { state: "done" } });
    expect(await answerOf(fetch(`${url}/runs`, { ...post, headers: { "x-later": "1" } }))).toMatchObject({
      status: 202,
      body: { state: "queued" },
    });
  });

  it("are bytes with only the headers that the endpoint declares", async () => {
    const made: Readable[] = [];
    const bytes = () => {
      const stream = Readable.from([Buffer.from("film")]);
      made.push(stream);
      return stream;
    };
    const { faults, url } = await start({
      render: ({ headers }) => ({
        stream: bytes(),
        headers: { [headers["x-wrong"] === undefined ? "x-row-count" : "set-cookie"]: "7" },
      }),
    });
    const response = await fetch(url + film);
    expect([
      response.status,
      response.headers.get("x-row-count"),
      response.headers.get("content-type"),
      await response.text(),
    ]).toEqual([200, "7", "video/mp4", "film"]);
    expect(await answerOf(fetch(url + film, { headers: { "x-wrong": "1" } }))).toMatchObject({ status: 500 });
    expect(faults).toHaveLength(1);
    expect(made.map(({ destroyed }) => destroyed)).toEqual([true, true]);
  });

  it("refuse an undeclared status as the service's own fault", async () => {
    const { faults, url } = await start({ lease: () => withStatus(203 as 200, {}) });
    expect(await answerOf(fetch(`${url}/leases`, post))).toMatchObject({
      status: 500,
      body: { code: "internal_error" },
    });
    expect(faults).toHaveLength(1);
  });

  it("come page by page, each with the token of the next", async () => {
    const { url } = await start({
      listByToken: ({ query }) =>
        query.page_token === undefined
          ? { items: [1, 2], nextPageToken: "t+/=" }
          : { items: [3], nextPageToken: undefined },
    });
    const headersOf = (headers: Headers) =>
      ["x-limit", "x-has-more", "x-next-page-token"].map((name) => headers.get(name));
    const first = await answerOf(fetch(`${url}/log`));
    expect([first.body, headersOf(first.headers)]).toEqual([
      [1, 2],
      ["2", "true", "t+/="],
    ]);
    const last = await answerOf(fetch(`${url}/log?page_token=${encodeURIComponent("t+/=")}`));
    expect([last.body, headersOf(last.headers)]).toEqual([[3], ["2", "false", null]]);
  });

  it("fail with the error's fields as well as its code and message", async () => {
    const { url } = await start({
      lease: () => {
        throw new ServiceError(409, "conflict", "There is one already.", {
          fields: { existing_id: "c1", code: "other" },
        });
      },
    });
    expect(await answerOf(fetch(`${url}/leases`, post))).toMatchObject({
      status: 409,
      body: { code: "conflict", message: "There is one already.", existing_id: "c1" },
    });
  });
});
