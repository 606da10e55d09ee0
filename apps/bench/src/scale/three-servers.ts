import { type Figure, percentile } from "../measuring/figures.ts";
import { startBenchDatabase } from "./bench-database.ts";
import { KeyedCalls } from "./keyed-calls.ts";
import { type StandInServer, startStandInServer } from "./start-stand-in-server.ts";

const atOnce = 8;

/** Creates over three servers in turn, next to creates of one server alone. Nothing but the number of servers differs. */
export async function measureThreeServers(rounds: number, creates: number): Promise<Figure[]> {
  await using database = await startBenchDatabase(100);
  const first = await startStandInServer(database, "one");
  const { apiKey } = first;
  const alone: Times[] = [];
  const together: Times[] = [];
  try {
    // All code is loaded before the first figure.
    await timed([first], apiKey, creates);
    for (let round = 0; round < rounds; round++) {
      alone.push(await timed([first], apiKey, creates));
      const others = await Promise.all(["two", "three"].map((name) => startStandInServer(database, name)));
      try {
        const servers = [first, ...others];
        await timed(servers, apiKey, creates / 2);
        together.push(await timed(servers, apiKey, creates));
      } finally {
        await Promise.all(others.map((server) => server.stop()));
      }
    }
  } finally {
    await first.stop();
  }
  return (["one at a time", `${String(atOnce)} at a time`] as const).flatMap((name, kind) =>
    [0.5, 0.99].map((share) => {
      const of = (times: readonly Times[]) => times.map((samples) => percentile(samples[kind] ?? [], share));
      const [ours, peer] = [of(together), of(alone)];
      return {
        name: `create over three servers, ${name}, p${String(share * 100)}`,
        unit: "ms",
        ours: percentile(ours, 0.5),
        peer: percentile(peer, 0.5),
        peerName: "one server alone",
        ratio: percentile(
          ours.map((value, round) => value / (peer[round] ?? Number.NaN)),
          0.5,
        ),
        ...(share === 0.5 && { target: "<= 1.2" }),
      };
    }),
  );
}

/** Milliseconds of creates one at a time, and of several at a time. */
type Times = readonly [readonly number[], readonly number[]];

async function timed(servers: readonly StandInServer[], apiKey: string, creates: number): Promise<Times> {
  const calls = servers.map(({ baseUrl }) => new KeyedCalls(baseUrl, apiKey));
  const run = async (together: number): Promise<number[]> => {
    const samples: number[] = [];
    const ids: string[] = [];
    const at = (index: number): KeyedCalls => {
      const chosen = calls[index % calls.length];
      if (chosen === undefined) throw new Error("Expected a server.");
      return chosen;
    };
    await new KeyedCalls("", "").many(creates, together, async (index) => {
      const began = performance.now();
      ids[index] = await at(index).create();
      samples.push(performance.now() - began);
    });
    // On the server of each session.
    await new KeyedCalls("", "").many(ids.length, 4, (index) => at(index).end(ids[index] ?? ""));
    return samples;
  };
  return [await run(1), await run(atOnce)];
}
