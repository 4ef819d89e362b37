// What this browser remembers.

const read = (name, other) => { try { return localStorage.getItem('sabir.' + name) ?? other; } catch { return other; } };
const write = (name, value) => { try { localStorage.setItem('sabir.' + name, value); } catch { /* for this visit only */ } };

export const settings = {
  theme: read('theme', 'system'),
  refresh: Number(read('refresh', '0')), // seconds; 0 for each look
  own: read('own', 'no') === 'yes', // the runtime's own actions
};

export function set(name, value) {
  settings[name] = value;
  write(name, name === 'own' ? (value ? 'yes' : 'no') : String(value));
  if (name === 'theme') showTheme();
}

export function isDark() {
  return settings.theme === 'dark' || settings.theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches;
}

function showTheme() {
  if (settings.theme === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = settings.theme;
}
