// Runs before anything is drawn, so that the page never flashes in the other theme.
try {
  const theme = localStorage.getItem('sabir.theme');
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
} catch { /* storage is switched off: the system's theme it is */ }
