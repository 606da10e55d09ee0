import { startService } from "@shoal/cli/service";
import { findChromium } from "@shoal/placement";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Figure } from "../measuring/figures.ts";
import { median } from "../measuring/rounds.ts";
import { installLibraries, serveWidgets } from "./pages.ts";
import { play, type Played } from "./play.ts";
import type { Player } from "./player.ts";
import { startAgentBrowser, startPlaywrightMcp, startShoal } from "./players.ts";
import { scripts } from "./scripts.ts";

/** Plays the script of each widget with three tools, one after the other. `only`: starts of `LIBRARY/WIDGET`, with commas. */
export async function measureSight(only: string | undefined = process.env.SHOAL_SIGHT): Promise<Figure[]> {
  const chromium = await findChromium({});
  if (!chromium) throw new Error("No Chromium on this machine.");
  const modules = installLibraries();
  const directory = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const site = await serveWidgets(
    join(directory, "site"),
    only?.split(",").map((one) => one.split("/")[0] ?? ""),
  );
  const host = new URL(site.url).host;
  const flags = ["--warm", "0", "--log-level", "warn", "--allow-private-hosts", host];
  const service = await startService(join(directory, "data"), flags);
  const players: Player[] = [];
  try {
    const { executable } = chromium;
    players.push(await startShoal(directory, service), await startPlaywrightMcp({ directory, executable }));
    players.push(startAgentBrowser({ directory, executable }, modules));
    const played = new Map<string, readonly Played[]>();
    for (const [library, widgets] of Object.entries(scripts))
      for (const [widget, script] of Object.entries(widgets)) {
        const name = `${library}/${widget}`;
        if (only !== undefined && !only.split(",").some((one) => name.startsWith(one))) continue;
        const results: Played[] = [];
        for (const player of players) results.push(await play(player, `${site.url}/${encodeURI(name)}`, script));
        played.set(name, results);
        console.error(lineOf(name, players, results));
      }
    return figuresOf(players, [...played.values()]);
  } finally {
    for (const player of players) await player[Symbol.asyncDispose]();
    await service.stop();
    site.close();
    rmSync(directory, { recursive: true, force: true });
  }
}

function lineOf(name: string, players: readonly Player[], results: readonly Played[]): string {
  const cells = results.map(({ calls, isOperated, isSeen, problem, stepsMs, tokens }, place) => {
    const state = `${isOperated ? "operated" : "FAILED"}${isSeen ? "" : ", unseen"}`;
    const cost = `${String(tokens)} tokens, ${stepsMs.toFixed(0)} ms, ${String(calls)} calls`;
    return `  ${players[place]?.name ?? ""}: ${state}, ${cost}${problem === undefined ? "" : ` (${problem.replaceAll("\n", " ")})`}`;
  });
  return [name, ...cells].join("\n");
}

function figuresOf(players: readonly Player[], rows: readonly (readonly Played[])[]): Figure[] {
  const whole = rows.filter((row) => row.every(({ isOperated }) => isOperated));
  const sum = (of: (played: Played) => number, chosen: typeof rows, place: number): number =>
    chosen.reduce((total, row) => total + (row[place] ? of(row[place]) : 0), 0);
  const figures: Figure[] = [];
  for (const [place, peer] of players.entries()) {
    if (place === 0) continue;
    const figure = (name: string, unit: string, [ours, theirs]: [number, number], target?: string): Figure => ({
      ...{ name, unit, ours, peer: theirs, peerName: peer.name },
      ...(target !== undefined && { target }),
    });
    const both = (of: (played: Played) => number, chosen = rows): [number, number] => [
      sum(of, chosen, 0),
      sum(of, chosen, place),
    ];
    const middle = (of: (played: Played) => number): number =>
      median(whole.map((row) => (row[0] && row[place] ? of(row[0]) / of(row[place]) : Number.NaN)));
    const tokens = ({ tokens: count }: Played): number => count;
    const time = ({ stepsMs }: Played): number => stepsMs;
    const target = peer.name === "@playwright/mcp" ? "0.5" : undefined;
    figures.push(
      figure(
        `seen, of ${String(rows.length)} widgets`,
        "",
        both(({ isSeen }) => Number(isSeen)),
        ">= 1",
      ),
      figure(
        `operated, of ${String(rows.length)} widgets`,
        "",
        both(({ isOperated }) => Number(isOperated)),
        ">= 1",
      ),
      figure(`tokens, sum of ${String(whole.length)} that all operate`, "", both(tokens, whole), target),
      figure("tokens, median of the ratios", "×", [middle(tokens), 1], target),
      figure("time of the steps, sum", "ms", both(time, whole), target),
      figure("time of the steps, median of the ratios", "×", [middle(time), 1], target),
      figure(
        "time to open the pages, sum",
        "ms",
        both(({ openMs }) => openMs, whole),
      ),
      figure(
        "calls, sum",
        "",
        both(({ calls }) => calls, whole),
      ),
    );
  }
  return figures;
}
