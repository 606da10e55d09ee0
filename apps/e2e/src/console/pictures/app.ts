import type { Shoal } from "@shoal/client";
import { zipOf } from "../../testing/zip.ts";

/** Registers as the framework of `@shoal/client/app` does, without a dependency. */
const source = `
const actions = new Map();
(globalThis[Symbol.for("shoal.apps.v1")] ??= new Map()).set("shop", { name: "shop", actions });
const action = (name, handler) => actions.set(name, { handler, payload: undefined, output: undefined });
action("price", async (_context, { sku }) => (console.log("reading the price of " + sku), { sku, cents: 42000, currency: "EUR" }));
action("ship", async (_context, { order }) => { console.log("shipping order " + order); throw new Error("The order " + order + " is not paid."); });
`;

async function deploy(shoal: Shoal, code: string): Promise<string> {
  const archive = await zipOf([
    { name: "package.json", content: '{"type":"module"}' },
    { name: "index.js", content: code },
  ]);
  const { id } = await shoal.deployments.create({ file: new Blob([archive]), entrypoint_rel_path: "index.js" });
  await shoal.deployments.wait(id, { totalTimeoutMs: 120_000 }).catch(() => undefined);
  return id;
}

/** An app with a successful and a failed invocation, a failed deployment, and a schedule. */
export async function makeApp(shoal: Shoal) {
  const deployment = await deploy(shoal, source);
  const failedDeployment = await deploy(shoal, `${source}\nthrow new Error("SHOP_TOKEN is not set");`);
  const invoke = async (action_name: string, payload: unknown): Promise<string> => {
    const { id } = await shoal.invocations.create({
      app_name: "shop",
      action_name,
      payload: JSON.stringify(payload),
      async: true,
    });
    await shoal.invocations.wait(id).catch(() => undefined);
    return id;
  };
  const invocation = await invoke("price", { sku: "oak-chair" });
  const failedInvocation = await invoke("ship", { order: 1043 });
  await shoal.schedules.create({
    app_name: "shop",
    action_name: "price",
    cron: "0 9 * * 1-5",
    time_zone: "Europe/Berlin",
    payload: '{"sku":"oak-chair"}',
  });
  return { deployment, failedDeployment, invocation, failedInvocation };
}
