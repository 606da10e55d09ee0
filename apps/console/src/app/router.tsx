import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  retainSearchParams,
} from "@tanstack/react-router";
import { invocationStatuses } from "@shoal/schemas";
import type { ComponentType } from "react";
import * as z from "zod/mini";
import { consolePath } from "../base/place.ts";
import { AuditSearch } from "../pages/audit/filters.ts";
import { WebhookSearch } from "../pages/webhooks/search.ts";
import { sessionOrders } from "../pages/sessions/session-order.ts";
import { sessionTabs } from "../pages/session/tabs.ts";
import { consoleLevels } from "../pages/session/telemetry/console-lines.ts";
import { orMissing } from "../parts/lazy-part.ts";
import { Loading } from "../parts/states.tsx";
import { Frame } from "../shell/frame.tsx";
import { NotFound, RouteFailure } from "../shell/route-states.tsx";

function pageOf<Name extends string>(load: () => Promise<Readonly<Record<Name, ComponentType>>>, name: Name) {
  return lazyRouteComponent(() => orMissing(load, name), name);
}

/** Invalid values count as absent: a person may have edited the address. */
const optionalText = z.catch(z.optional(z.string()), undefined);

const optionalDay = z.catch(z.optional(z.string().check(z.regex(/^\d{4}-\d{2}-\d{2}$/))), undefined);

const rootRoute = createRootRoute({
  component: Frame,
  notFoundComponent: NotFound,
  errorComponent: RouteFailure,
  validateSearch: z.object({ project: optionalText }),
  search: { middlewares: [retainSearchParams(["project"])] },
});

const home = createRoute({
  getParentRoute: () => rootRoute,
  path: "/",
  component: pageOf(() => import("../pages/home/home-page.tsx"), "HomePage"),
});

const sessions = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sessions",
  validateSearch: z.object({
    status: z.catch(z.optional(z.enum(["active", "deleted", "all"])), undefined),
    query: optionalText,
    tag: optionalText,
    pool: optionalText,
    view: z.catch(z.optional(z.enum(["grid"])), undefined),
    sort: z.catch(z.optional(z.enum(sessionOrders)), undefined),
  }),
  component: pageOf(() => import("../pages/sessions/sessions-page.tsx"), "SessionsPage"),
});

const session = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sessions/$id",
  validateSearch: z.object({
    tab: z.catch(z.optional(z.enum(sessionTabs)), undefined),
    path: optionalText,
    find: optionalText,
    level: z.catch(z.optional(z.enum(consoleLevels)), undefined),
    type: optionalText,
    outcome: z.catch(z.optional(z.enum(["failed", "ok", "redirect", "running"])), undefined),
  }),
  component: pageOf(() => import("../pages/session/session-page.tsx"), "SessionPage"),
});

const replay = createRoute({
  getParentRoute: () => rootRoute,
  path: "/sessions/$id/replays/$replay",
  // A number without quotes in the address is a number for the router.
  validateSearch: z.object({ t: z.catch(z.optional(z.union([z.string(), z.number()])), undefined) }),
  component: pageOf(() => import("../pages/session/replay/replay-page.tsx"), "ReplayPage"),
});

const profiles = createRoute({
  getParentRoute: () => rootRoute,
  path: "/profiles",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/profiles/profiles-page.tsx"), "ProfilesPage"),
});

const profile = createRoute({
  getParentRoute: () => rootRoute,
  path: "/profiles/$id",
  component: pageOf(() => import("../pages/profiles/profile-page.tsx"), "ProfilePage"),
});

const pools = createRoute({
  getParentRoute: () => rootRoute,
  path: "/pools",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/pools/pools-page.tsx"), "PoolsPage"),
});

const pool = createRoute({
  getParentRoute: () => rootRoute,
  path: "/pools/$id",
  component: pageOf(() => import("../pages/pools/pool-page.tsx"), "PoolPage"),
});

const flows = createRoute({
  getParentRoute: () => rootRoute,
  path: "/flows",
  component: pageOf(() => import("../pages/flows/flows-page.tsx"), "FlowsPage"),
});

const flow = createRoute({
  getParentRoute: () => rootRoute,
  path: "/flows/$id",
  component: pageOf(() => import("../pages/flows/flow-page.tsx"), "FlowPage"),
});

const flowRun = createRoute({
  getParentRoute: () => rootRoute,
  path: "/flows/$id/runs/$run",
  component: pageOf(() => import("../pages/flows/flow-run-page.tsx"), "FlowRunPage"),
});

const snapshots = createRoute({
  getParentRoute: () => rootRoute,
  path: "/snapshots",
  component: pageOf(() => import("../pages/snapshots/snapshots-page.tsx"), "SnapshotsPage"),
});

const networkRecordings = createRoute({
  getParentRoute: () => rootRoute,
  path: "/network-recordings",
  component: pageOf(() => import("../pages/network-recordings/network-recordings-page.tsx"), "NetworkRecordingsPage"),
});

const proxies = createRoute({
  getParentRoute: () => rootRoute,
  path: "/proxies",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/proxies/proxies-page.tsx"), "ProxiesPage"),
});

const extensions = createRoute({
  getParentRoute: () => rootRoute,
  path: "/extensions",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/extensions/extensions-page.tsx"), "ExtensionsPage"),
});

const usage = createRoute({
  getParentRoute: () => rootRoute,
  path: "/usage",
  validateSearch: z.object({
    from: optionalDay,
    to: optionalDay,
    days: z.catch(z.optional(z.literal([7, 30, 90])), undefined),
    group: z.catch(z.optional(z.enum(["project", "api_key"])), undefined),
    metric: z.catch(z.optional(z.enum(["minutes", "sessions", "peak", "received", "sent", "storage"])), undefined),
    scope: z.catch(z.optional(z.literal("all")), undefined),
  }),
  component: pageOf(() => import("../pages/usage/usage-page.tsx"), "UsagePage"),
});

const projects = createRoute({
  getParentRoute: () => rootRoute,
  path: "/projects",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/projects/projects-page.tsx"), "ProjectsPage"),
});

const project = createRoute({
  getParentRoute: () => rootRoute,
  path: "/projects/$id",
  component: pageOf(() => import("../pages/projects/project-page.tsx"), "ProjectPage"),
});

const keys = createRoute({
  getParentRoute: () => rootRoute,
  path: "/keys",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/keys/keys-page.tsx"), "KeysPage"),
});

const audit = createRoute({
  getParentRoute: () => rootRoute,
  path: "/audit",
  validateSearch: AuditSearch,
  component: pageOf(() => import("../pages/audit/audit-page.tsx"), "AuditPage"),
});

const webhooks = createRoute({
  getParentRoute: () => rootRoute,
  path: "/webhooks",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/webhooks/webhooks-page.tsx"), "WebhooksPage"),
});

const webhook = createRoute({
  getParentRoute: () => rootRoute,
  path: "/webhooks/$id",
  validateSearch: WebhookSearch,
  component: pageOf(() => import("../pages/webhooks/webhook-page.tsx"), "WebhookPage"),
});

const telemetry = createRoute({
  getParentRoute: () => rootRoute,
  path: "/telemetry",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/telemetry/destinations-page.tsx"), "DestinationsPage"),
});

const connections = createRoute({
  getParentRoute: () => rootRoute,
  path: "/connections",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/connections/connections-page.tsx"), "ConnectionsPage"),
});

const connection = createRoute({
  getParentRoute: () => rootRoute,
  path: "/connections/$id",
  component: pageOf(() => import("../pages/connections/connection-page.tsx"), "ConnectionPage"),
});

const credentials = createRoute({
  getParentRoute: () => rootRoute,
  path: "/credentials",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/credentials/credentials-page.tsx"), "CredentialsPage"),
});

const providers = createRoute({
  getParentRoute: () => rootRoute,
  path: "/providers",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/providers/providers-page.tsx"), "ProvidersPage"),
});

const apps = createRoute({
  getParentRoute: () => rootRoute,
  path: "/apps",
  validateSearch: z.object({
    tab: z.catch(z.optional(z.enum(["deployments"])), undefined),
    query: optionalText,
  }),
  component: pageOf(() => import("../pages/apps/apps-page.tsx"), "AppsPage"),
});

const deployment = createRoute({
  getParentRoute: () => rootRoute,
  path: "/deployments/$id",
  component: pageOf(() => import("../pages/apps/deployment-page.tsx"), "DeploymentPage"),
});

const invocations = createRoute({
  getParentRoute: () => rootRoute,
  path: "/invocations",
  validateSearch: z.object({
    status: z.catch(z.optional(z.enum(invocationStatuses)), undefined),
    deployment: optionalText,
    query: optionalText,
  }),
  component: pageOf(() => import("../pages/invocations/invocations-page.tsx"), "InvocationsPage"),
});

const invocation = createRoute({
  getParentRoute: () => rootRoute,
  path: "/invocations/$id",
  component: pageOf(() => import("../pages/invocations/invocation-page.tsx"), "InvocationPage"),
});

const schedules = createRoute({
  getParentRoute: () => rootRoute,
  path: "/schedules",
  validateSearch: z.object({ query: optionalText }),
  component: pageOf(() => import("../pages/schedules/schedules-page.tsx"), "SchedulesPage"),
});

export const router = createRouter({
  routeTree: rootRoute.addChildren([
    home,
    sessions,
    session,
    replay,
    profiles,
    profile,
    pools,
    pool,
    snapshots,
    networkRecordings,
    proxies,
    extensions,
    keys,
    audit,
    flows,
    flow,
    flowRun,
    webhooks,
    webhook,
    telemetry,
    connections,
    connection,
    credentials,
    providers,
    apps,
    deployment,
    invocations,
    invocation,
    schedules,
    usage,
    projects,
    project,
  ]),
  basepath: consolePath,
  defaultPreload: "intent",
  // Below the frame, which stays.
  defaultErrorComponent: RouteFailure,
  defaultPendingComponent: Loading,
  defaultPendingMs: 200,
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
