import { TextInput } from "@mantine/core";
import { useNavigate, useSearch } from "@tanstack/react-router";
import { Search } from "lucide-react";

interface FindFieldProps {
  readonly label: string;
  readonly placeholder: string;
}

/** Words that lines of a tab contain. They are in the address, and stay when the person changes the tab. */
export function FindField({ label, placeholder }: FindFieldProps) {
  const { find = "" } = useSearch({ from: "/sessions/$id" });
  const navigate = useNavigate({ from: "/sessions/$id" });
  return (
    <TextInput
      size="xs"
      aria-label={label}
      placeholder={placeholder}
      leftSection={<Search size={14} aria-hidden />}
      value={find}
      onChange={({ currentTarget: { value } }) =>
        void navigate({
          search: (before) => ({ ...before, find: value === "" ? undefined : value }),
          replace: true,
        })
      }
      data-search
    />
  );
}
