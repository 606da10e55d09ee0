import type { LinkProps } from "@tanstack/react-router";
import { AppWindow, House, KeyRound, type LucideIcon, UserRoundCheck } from "lucide-react";

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
export const sectionGroups: readonly SectionGroup[] = [
  { sections: [{ to: "/", label: "Home", icon: House }] },
  {
    // Sessions, Profiles, Pools, Proxies, Extensions.
    name: "Browsers",
    sections: [
      { to: "/sessions", label: "Sessions", icon: AppWindow },
      { to: "/profiles", label: "Profiles", icon: UserRoundCheck },
    ],
  },
  {
    // Apps, Invocations, Schedules.
    name: "Apps",
    sections: [],
  },
  {
    // Connections, Credentials, Providers.
    name: "Sign-in",
    sections: [],
  },
  {
    // Usage, Webhooks, Telemetry, Audit log.
    name: "Operations",
    sections: [],
  },
  {
    // Projects, API keys.
    name: "Settings",
    sections: [{ to: "/keys", label: "API keys", icon: KeyRound, isForAdmins: true }],
  },
];
