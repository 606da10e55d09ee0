import type { LinkProps } from "@tanstack/react-router";
import {
  AppWindow,
  Camera,
  CalendarClock,
  CassetteTape,
  ChartColumn,
  FolderOpen,
  House,
  KeyRound,
  KeySquare,
  Layers,
  type LucideIcon,
  Package,
  Plug,
  Puzzle,
  RadioTower,
  Route,
  ScrollText,
  UserRoundCheck,
  Vault,
  Waypoints,
  Webhook,
  Zap,
} from "lucide-react";
import { useIsAdmin } from "../api/shoal.ts";

export interface Section {
  readonly to: NonNullable<LinkProps["to"]>;
  readonly label: string;
  readonly icon: LucideIcon;
  /** Default `false`: every role sees the link. */
  readonly isForAdmins?: boolean;
}

export interface SectionGroup {
  /** The first group has no name. */
  readonly name?: string | undefined;
  readonly sections: readonly Section[];
}

/** The navigation in its order. Groups without pages are hidden. */
const sectionGroups: readonly SectionGroup[] = [
  { sections: [{ to: "/", label: "Home", icon: House }] },
  {
    name: "Browsers",
    sections: [
      { to: "/sessions", label: "Sessions", icon: AppWindow },
      { to: "/profiles", label: "Profiles", icon: UserRoundCheck },
      { to: "/snapshots", label: "Snapshots", icon: Camera },
      { to: "/network-recordings", label: "Network recordings", icon: CassetteTape },
      { to: "/pools", label: "Pools", icon: Layers },
      { to: "/flows", label: "Flows", icon: Route },
      { to: "/proxies", label: "Proxies", icon: Waypoints },
      { to: "/extensions", label: "Extensions", icon: Puzzle },
    ],
  },
  {
    name: "Apps",
    sections: [
      { to: "/apps", label: "Apps", icon: Package },
      { to: "/invocations", label: "Invocations", icon: Zap },
      { to: "/schedules", label: "Schedules", icon: CalendarClock },
    ],
  },
  {
    name: "Sign-in",
    sections: [
      { to: "/connections", label: "Connections", icon: Plug },
      { to: "/credentials", label: "Credentials", icon: KeySquare, isForAdmins: true },
      { to: "/providers", label: "Providers", icon: Vault, isForAdmins: true },
    ],
  },
  {
    name: "Operations",
    sections: [
      { to: "/usage", label: "Usage", icon: ChartColumn },
      { to: "/webhooks", label: "Webhooks", icon: Webhook, isForAdmins: true },
      { to: "/telemetry", label: "Telemetry", icon: RadioTower, isForAdmins: true },
      { to: "/audit", label: "Audit log", icon: ScrollText, isForAdmins: true },
    ],
  },
  {
    name: "Settings",
    sections: [
      { to: "/projects", label: "Projects", icon: FolderOpen },
      { to: "/keys", label: "API keys", icon: KeyRound, isForAdmins: true },
    ],
  },
];

/** The groups of pages that the person may open. */
export function useSections(): readonly SectionGroup[] {
  const isAdmin = useIsAdmin();
  return sectionGroups
    .map(({ name, sections }) => ({
      name,
      sections: sections.filter(({ isForAdmins = false }) => isAdmin || !isForAdmins),
    }))
    .filter(({ sections }) => sections.length > 0);
}
