-- Notifies only if rows changed.
CREATE OR REPLACE FUNCTION tell_change() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    IF EXISTS (SELECT FROM changed) THEN PERFORM pg_notify('authserver_changed', TG_TABLE_NAME); END IF;
    RETURN NULL;
  END $$;
DO $$
  DECLARE told text; event text;
  BEGIN
    FOREACH told IN ARRAY ARRAY['record', 'operator_ban', 'operator_lift', 'reservation', 'known_login'] LOOP
      EXECUTE format('DROP TRIGGER IF EXISTS %1$s_changed ON %1$s', told);
      FOREACH event IN ARRAY ARRAY['insert', 'update', 'delete'] LOOP
        EXECUTE format(
          'CREATE TRIGGER %1$s_%2$s AFTER %2$s ON %1$s REFERENCING %3$s TABLE AS changed
             FOR EACH STATEMENT EXECUTE FUNCTION tell_change()',
          told, event, CASE event WHEN 'delete' THEN 'OLD' ELSE 'NEW' END
        );
      END LOOP;
    END LOOP;
  END $$;
