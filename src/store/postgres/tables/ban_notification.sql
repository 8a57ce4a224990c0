CREATE TRIGGER operator_ban_changed AFTER INSERT OR UPDATE OR DELETE ON operator_ban
  FOR EACH STATEMENT EXECUTE FUNCTION tell_change();
CREATE TRIGGER operator_lift_changed AFTER INSERT OR UPDATE OR DELETE ON operator_lift
  FOR EACH STATEMENT EXECUTE FUNCTION tell_change();
CREATE FUNCTION tell_revocation() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN PERFORM pg_notify('authserver_changed', 'revocation'); RETURN NULL; END $$;
CREATE TRIGGER record_revoked AFTER INSERT OR UPDATE ON record
  FOR EACH ROW WHEN (NEW.kind LIKE 'revoked-%') EXECUTE FUNCTION tell_revocation();
