// Runs TypeScript programs of the guide, one after another, as the parent process asks.
export interface GuideOrder {
  readonly file: string;
  /** An empty folder. */
  readonly cwd: string;
}

export type GuideReport =
  { readonly kind: "output"; readonly text: string } | { readonly kind: "ended"; readonly problem?: string };

const report = (message: GuideReport) => process.send?.(message);

const writeLate = process.stdout.write.bind(process.stdout);
process.stdout.write = (chunk: string | Uint8Array) => {
  // Node's test runner prints its report when the process ends.
  if (!process.connected) return writeLate(chunk);
  report({ kind: "output", text: typeof chunk === "string" ? chunk : Buffer.from(chunk).toString() });
  return true;
};

process.on("message", (order: GuideOrder | "end") => {
  if (order === "end") {
    // Without a channel, the process ends unless a program left something open.
    process.disconnect();
    return;
  }
  const { cwd, file } = order;
  process.chdir(cwd);
  process.env.SHOAL_CONFIG_DIR = `${cwd}/config`;
  import(file).then(
    () => {
      report({ kind: "ended" });
    },
    (error: unknown) => {
      report({ kind: "ended", problem: error instanceof Error ? String(error.stack) : String(error) });
    },
  );
});
