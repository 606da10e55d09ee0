import { Menu, Text, useMantineColorScheme } from "@mantine/core";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { LogOut, Monitor, Moon, Sun } from "lucide-react";
import { signOut } from "../api/console-session.ts";
import { useSignedIn } from "../api/shoal.ts";
import type { OpenedMenuProps } from "./menu-button.tsx";
import { OpenedMenu } from "./opened-menu.tsx";

const schemes = [
  { value: "light", label: "Light", icon: Sun },
  { value: "dark", label: "Dark", icon: Moon },
  { value: "auto", label: "Like the system", icon: Monitor },
] as const;

export default function PersonMenu({ button }: OpenedMenuProps) {
  const { session, project } = useSignedIn();
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const queries = useQueryClient();
  const leave = useMutation({ mutationFn: () => signOut(queries) });
  return (
    <OpenedMenu button={button} position="bottom-end" width={230}>
      <Menu.Dropdown>
        <Menu.Label>
          <Text size="sm" fw={600} truncate>
            {session.principal.name}
          </Text>
          <Text size="xs">
            {session.principal.type === "api_key" ? "API key" : "Person"}
            {project !== undefined && `, ${project.role}`}
          </Text>
        </Menu.Label>
        <Menu.Divider />
        <Menu.Label>Appearance</Menu.Label>
        {schemes.map(({ value, label, icon: Icon }) => (
          <Menu.Item
            key={value}
            leftSection={<Icon size={16} aria-hidden />}
            onClick={() => {
              setColorScheme(value);
            }}
            aria-current={colorScheme === value}
            fw={colorScheme === value ? 600 : undefined}
          >
            {label}
          </Menu.Item>
        ))}
        <Menu.Divider />
        <Menu.Item
          leftSection={<LogOut size={16} aria-hidden />}
          onClick={() => {
            leave.mutate();
          }}
        >
          Sign out
        </Menu.Item>
      </Menu.Dropdown>
    </OpenedMenu>
  );
}
