export function functions(collation: string): readonly string[] {
  return [
    // Not every PostgreSQL has the extension unaccent. Only ICU handles the final sigma, hence translate().
    `create function shoal_fold(value text) returns text language sql immutable strict parallel safe
      return translate(
        lower(
          regexp_replace(normalize(value, NFKD), '[\\u0300-\\u036f\\u1ab0-\\u1aff\\u1dc0-\\u1dff\\u20d0-\\u20ff\\ufe20-\\ufe2f]', '', 'g')
          collate ${collation}
        ), 'ς', 'σ') collate "C"`,

    `create function shoal_notify() returns trigger language plpgsql as $$
      begin
        perform pg_notify('shoal_changes', tg_table_name || ':' || coalesce(new.id, old.id));
        return null;
      end $$`,

    // Also rejects inserts that began before the archiving: the shared lock waits for an update of the project.
    `create function shoal_project_open() returns trigger language plpgsql as $$
      begin
        if new.project_id is not null then
          perform 1 from projects where id = new.project_id and status = 'active' and deleted_at is null for share;
          if not found then
            raise exception using errcode = 'SH404', message = 'the project is archived or deleted', detail = new.project_id;
          end if;
        end if;
        return new;
      end $$`,
  ];
}

export function notifyChanges(table: string): readonly string[] {
  return [
    `create trigger shoal_changes after insert or delete on ${table} for each row execute function shoal_notify()`,
    `create trigger shoal_updates after update on ${table} for each row when (old.* is distinct from new.*) execute function shoal_notify()`,
  ];
}

export function requireOpenProject(table: string): string {
  return `create trigger shoal_project_open before insert on ${table} for each row execute function shoal_project_open()`;
}
