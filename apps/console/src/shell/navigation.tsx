import { NavLink, Stack } from "@mantine/core";
import { Link, useMatchRoute } from "@tanstack/react-router";
import { AppWindow, House } from "lucide-react";

const sections = [
  { to: "/", label: "Home", icon: House, isExact: true },
  { to: "/sessions", label: "Sessions", icon: AppWindow, isExact: false },
] as const;

export function Navigation() {
  const matches = useMatchRoute();
  return (
    <Stack component="nav" gap={4} aria-label="Main">
      {sections.map(({ to, label, icon: Icon, isExact }) => (
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
