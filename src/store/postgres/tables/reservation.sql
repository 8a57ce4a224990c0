-- Times in milliseconds since the epoch, accounts as a JSON list.
CREATE TABLE reservation (
  id TEXT PRIMARY KEY,
  server TEXT NOT NULL,
  name TEXT NOT NULL,
  starts BIGINT NOT NULL,
  ends BIGINT NOT NULL CHECK (starts < ends),
  uids TEXT NOT NULL,
  rate_limit BIGINT NOT NULL CHECK (rate_limit >= 0),
  limit_text TEXT NOT NULL
);
CREATE INDEX reservation_by_name ON reservation (server, name);
CREATE INDEX reservation_by_end ON reservation (ends);
CREATE TRIGGER reservation_changed AFTER INSERT OR UPDATE OR DELETE ON reservation
  FOR EACH STATEMENT EXECUTE FUNCTION tell_change();
