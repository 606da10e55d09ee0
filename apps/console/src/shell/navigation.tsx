import { NavLink, Stack } from "@mantine/core";
import { Link, useMatchRoute } from "@tanstack/react-router";
import { AppWindow, House, KeyRound } from "lucide-react";
import { useIsAdmin } from "../api/shoal.ts";

const sections = [
  { to: "/", label: "Home", icon: House, isExact: true, isForAdmins: false },
  { to: "/sessions", label: "Sessions", icon: AppWindow, isExact: false, isForAdmins: false },
  { to: "/keys", label: "API keys", icon: KeyRound, isExact: false, isForAdmins: true },
] as const;

export function Navigation() {
  const matches = useMatchRoute();
  const isAdmin = useIsAdmin();
  return (
    <Stack component="nav" gap={4} aria-label="Main">
      {sections
        .filter(({ isForAdmins }) => isAdmin || !isForAdmins)
        .map(({ to, label, icon: Icon, isExact }) => (
          <NavLink
            key={to}
            label={label}
            leftSection={<Icon size={18} aria-hidden />}
            active={matches({ to, fuzzy: !isExact }) !== false}
            renderRoot={(props) => <Link to={to} {...props} />}
            style={{ borderRadius: "var(--mantine-radius-md)" }}
          />
        ))}
    </Stack>
  );
}
