import Kernel from "@onkernel/sdk";
import { Shoal } from "@shoal/client";
import ky from "ky";
import { startBareServer } from "../measuring/bare-server.ts";
import type { Figure } from "../measuring/figures.ts";
import { interleaved, pairedRatio } from "../measuring/rounds.ts";

const profile = {
  id: "prof_k3f9a1b2c3d4e5f6g7h8i9j0",
  name: "work",
  created_at: "2026-01-31T12:00:00.000Z",
  updated_at: "2026-01-31T12:00:00.000Z",
};
const rounds = 15;

/** CPU and time of this process per `profiles.get` and `profiles.create`, next to other clients of the same server. */
export async function measureClientCall(calls: number): Promise<Figure[]> {
  const server = await startBareServer({ json: JSON.stringify(profile) });
  try {
    const key = "sk_0123456789abcdef";
    const headers = { authorization: `Bearer ${key}` };
    const url = `${server.url}/profiles`;
    const json = { name: profile.name };
    const shoal = new Shoal({ baseUrl: server.url, apiKey: key });
    const kernel = new Kernel({ baseURL: server.url, apiKey: key });
    const repeat = (call: () => Promise<unknown>) => async () => {
      for (let count = 0; count < calls; count++) await call();
    };
    const gets = {
      shoal: repeat(() => shoal.profiles.get(profile.id)),
      fetch: repeat(async () => JSON.parse(await (await fetch(`${url}/${profile.id}`, { headers })).text()) as unknown),
      ky: repeat(() => ky(`${url}/${profile.id}`, { headers }).json()),
      kernel: repeat(() => kernel.profiles.retrieve(profile.id)),
    };
    const posts = {
      shoal: repeat(() => shoal.profiles.create(json)),
      kernel: repeat(() => kernel.profiles.create(json)),
    };
    await interleaved(1, gets);
    await interleaved(1, posts);
    const costs = { get: await interleaved(rounds, gets), create: await interleaved(rounds, posts) };
    const figure = (
      method: "get" | "create",
      of: "cpuMs" | "wallMs",
      peer: "fetch" | "ky" | "kernel",
      target?: string,
    ): Figure => {
      const ours = costs[method].shoal;
      const theirs = method === "get" ? costs.get[peer] : costs.create.kernel;
      return {
        name: `profiles.${method}, ${of === "cpuMs" ? "CPU" : "time"} per call`,
        unit: "µs",
        ours: (ours[of] * 1000) / calls,
        peer: (theirs[of] * 1000) / calls,
        peerName: { fetch: "bare fetch, JSON.parse", ky: "ky", kernel: "@onkernel/sdk" }[peer],
        ratio: pairedRatio(ours, theirs, of),
        ...(target !== undefined && { target }),
      };
    };
    return [
      figure("get", "cpuMs", "kernel", "<= 1.1"),
      figure("create", "cpuMs", "kernel", "<= 1.25"),
      figure("get", "cpuMs", "fetch"),
      figure("get", "cpuMs", "ky"),
      figure("get", "wallMs", "kernel"),
      figure("create", "wallMs", "kernel"),
    ];
  } finally {
    server.stop();
  }
}
