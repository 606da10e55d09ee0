import { phrases } from "./phrases.ts";

export const refusedWords = phrases(
  "incorrect|invalid|wrong|not valid|doesn t match|don t match|do not match|does not match|isn t right|didn t work|didn t recognize|not recognised|not recognized|no account|couldn t find|could not find|don t know|unable to sign in|failed|try again|not found|unknown user|expired|already been used|denied|check the account|please complete|error|bad credentials",
  "falsch|ungültig|nicht korrekt|inkorrekt|stimmt nicht|stimmen nicht|nicht gefunden|unbekannt|fehlgeschlagen|erneut versuchen|fehler|incorrect|incorrecte|invalide|erroné|erronée|introuvable|échec|réessayez|ne correspond*|incorrecto|incorrecta|incorrectos|inválido|no coincide*|no son válidos|no es válido|no válid*|no son correct*|no es correct*|error|no encontrado|inténtalo|inválida|incorreto|incorreta|incorretos|não encontrado|tente novamente|não confere*|não são válidos|não é válido|não estão corretos|não corresponde*|inválidos|inválidas",
  "errata|errato|errati|non corrett*|non valid*|non trovato|riprova|onjuist|ongeldig|verkeerd|niet gevonden|probeer het opnieuw|nieprawidłow*|błędn*|niepoprawn*|nie znaleziono|spróbuj|felaktig*|fel|ogiltig*|неверн*|неправильн*|не найден|ошибка|hatalı|yanlış|geçersiz|bulunamadı|正しくありません|間違っ|違います|誤り|一致しません|見つかりません|不正|错误|錯誤|不正确|无效|不存在|不匹配|올바르지|일치하지|잘못|틀렸|없습니다",
);
/** A message with these words is about the values, also if it mentions a lock. */
export const wrongWords = phrases(
  "incorrect|invalid|wrong|falsch|ungültig|nicht korrekt|incorrecte|incorrecto|incorrecta|no son válidos|incorretos|incorreto|inválido|errata|errato|onjuist|nieprawidłow*|felaktig*|неверн*|hatalı|yanlış|正しくありません|不正确|올바르지",
);
export const lockedWords = phrases(
  "account locked|has been locked|is locked|locked out|too many failed|too many attempts|too many sign in|too many login|temporarily locked|account disabled|account is disabled|account suspended|temporarily blocked",
  "konto gesperrt|wurde gesperrt|zu viele versuche|zu viele fehlversuche|compte bloqué|compte verrouillé|trop de tentatives|cuenta bloqueada|demasiados intentos|conta bloqueada|muitas tentativas|account bloccato|troppi tentativi|account geblokkeerd|account vergrendeld|te veel pogingen|konto zablokowane|zbyt wiele prób|kontot är låst|för många försök|аккаунт заблокирован|учетная запись заблокирована|слишком много попыток|hesabınız kilitlendi|çok fazla deneme|ロックされ|回数が多すぎ|锁定|鎖定|尝试次数过多|잠겼|잠금|너무 많은 시도",
);
export const blockedWords = phrases(
  "you have been blocked|access denied|access to this page has been denied|unable to access|attention required|too many requests|verifying you are human|verify you are human|checking your browser|just a moment|unusual traffic|automated access|bot detected|are you a robot|are you a human|request blocked|pardon our interruption|enable javascript and cookies",
  "zugriff verweigert|accès refusé|accès interdit|acceso denegado|acesso negado|accesso negato|toegang geweigerd|odmowa dostępu|доступ запрещен|erişim engellendi|アクセスが拒否|访问被拒绝|접근이 거부|접속이 차단",
);
export const mailLinkWords = phrases(
  "link we sent|sent you a link|sent a link|magic link|click the link|click on the link|link in the email|link to sign in|sign in link|login link|tap the link|link geschickt|link gesendet|klicken sie auf den link|lien envoyé|cliquez sur le lien|enlace|haz clic en el enlace|link que enviamos|clique no link|clicca sul link|klik op de link|kliknij link|ссылку|ссылка|bağlantıya|リンクをクリック|リンクを送信|点击链接|鏈接|링크",
);
export const pushWords = phrases(
  "authenticator app|approve sign in|approve the|approve this|approve request|check your phone|notification to your|sent a notification|push notification|tap yes|open your authenticator|confirm on your phone|open the app|mobile app|request in your app|bestätigen sie in der app|öffnen sie die app|auf ihrem telefon|ouvrez l application|sur votre téléphone|en tu teléfono|abre la aplicación|no seu telefone|abra o aplicativo|sul telefono|apri l app|op je telefoon|open de app|na telefonie|в приложении|на телефоне|telefonunuz*|アプリを開|スマートフォン|打开应用|手机上|휴대전화에서|앱을 열",
);
export const passkeyWords = phrases(
  "passkey|passkeys|security key|fingerprint|face id|touch id|windows hello|webauthn|screen lock|sicherheitsschlüssel|fingerabdruck|clé d accès|clé de sécurité|empreinte|clave de acceso|llave de acceso|llave de seguridad|chave de acesso|chave de segurança|impressão digital|chiave di accesso|impronta|toegangssleutel|klucz dostępu|klucz bezpieczeństwa|ключ доступа|geçiş anahtarı|パスキー|セキュリティキー|通行密钥|安全密钥|패스키|보안 키",
);
export const captchaWords = phrases(
  "captcha|recaptcha|hcaptcha|turnstile|i m not a robot|i am not a robot|not a robot|funcaptcha|arkose|geetest|human challenge|security challenge|kein roboter|pas un robot|no soy un robot|não sou um robô|non sono un robot|geen robot|nie jestem robotem|я не робот|robot değilim|ロボットではありません|我不是机器人|로봇이 아닙니다",
);
export const expiredPasswordWords = phrases(
  "password has expired|password expired|change your password|must change|update your password|choose a new password|set a new password|create a new password|passwort ist abgelaufen|passwort ändern|kennwort ändern|mot de passe a expiré|changer votre mot de passe|contraseña ha caducado|cambia tu contraseña|senha expirou|altere sua senha|password scaduta|cambia la password|wachtwoord is verlopen|hasło wygasło|zmień hasło|пароль истек|смените пароль|şifrenizin süresi|şifrenizi değiştirin|有効期限|パスワードを変更|密码已过期|修改密码|비밀번호를 변경",
);
export const questionWords = phrases(
  "security question|secret question|challenge question|answer your|security answer|sicherheitsfrage|geheimfrage|question de sécurité|question secrète|pregunta de seguridad|pregunta secreta|pergunta de segurança|pergunta secreta|domanda di sicurezza|domanda segreta|beveiligingsvraag|pytanie zabezpieczające|pytanie pomocnicze|säkerhetsfråga|контрольный вопрос|секретный вопрос|güvenlik sorusu|秘密の質問|セキュリティの質問|安全问题|密保问题|보안 질문",
);
export const chooseAccountWords = phrases(
  "choose an account|pick an account|select an account|choose account|who s using|konto auswählen|wählen sie ein konto|choisissez un compte|sélectionnez un compte|elige una cuenta|selecciona una cuenta|escolha uma conta|selecione uma conta|scegli un account|kies een account|wybierz konto|välj ett konto|выберите аккаунт|hesap seçin|アカウントを選択|选择帐号|选择账户|選擇帳戶|계정 선택",
);
export const askConsentWords = phrases(
  "wants to access|would like to|will share|share your|gibt weiter|partagera|compartirá|compartilhará|condividerà|wants access|is requesting|will be able to|permission*|authorize|allow access|continue to|möchte zugreifen|zugriff|souhaite accéder|autoriser|quiere acceder|permisos|deseja acessar|permissões|vuole accedere|wil toegang|chce uzyskać|запрашивает|erişmek istiyor|アクセスを求め|アクセス許可|想要访问|请求|접근하려고|액세스",
);
export const staySignedInWords = phrases(
  "stay signed in|keep me signed in|reduce the number of times|angemeldet bleiben|rester connecté|mantener la sesión|continuar conectado|resta connesso|aangemeld blijven|nie wylogowywać|не выходить из системы|サインインの状態を維持|保持登录状态|로그인 상태를 유지",
);
/** On the page for a code: where it went. */
export const phoneNumberWords = phrases(
  "phone number|number ending|mobile number|your phone|your mobile|telefonnummer|handynummer|mobilnummer|numéro de téléphone|votre téléphone|número de teléfono|tu teléfono|número de telefone|seu telefone|numero di telefono|telefoonnummer|numer telefonu|номер телефона|telefon numara*|電話番号|手机号|전화번호",
);

/** Second factors by their type. */
export const factorWords = [
  [
    "sms",
    phrases(
      "sms|text message|text me|text|textnachricht|message texte|mensaje de texto|mensagem de texto|messaggio|tekstbericht|wiadomość sms|смс|kısa mesaj|ショートメッセージ|短信|문자",
    ),
  ],
  [
    "call",
    phrases(
      "call|phone call|voice|call me|anruf|anrufen|appel|llamada|ligação|chamada|chiamata|bellen|połączenie|звонок|arama|音声|通話|電話|语音|电话|전화",
    ),
  ],
  ["email", phrases("email|e mail|mail|courriel|correo|e posta|почта|メール|邮件|邮箱|이메일")],
  [
    "totp",
    phrases(
      "authenticator|authentication app|authenticator app|code from your app|totp|google authenticator|code generator|authentifizierungs app|application d authentification|aplicación de autenticación|aplicativo autenticador|app di autenticazione|aplikacja uwierzytelniająca|приложение|doğrulama uygulaması|認証アプリ|身份验证器|验证器|인증 앱|otp app",
    ),
  ],
  [
    "push",
    phrases(
      "push|notification|approve|prompt|mobile app|benachrichtigung|notificación|notificação|notifica|melding|powiadomienie|уведомление|bildirim|通知|알림",
    ),
  ],
  ["password", passwordlike()],
  [
    "key",
    phrases(
      "security key|passkey|passkeys|usb key|yubikey|webauthn|fido|fingerprint|sicherheitsschlüssel|clé de sécurité|llave de seguridad|chave de segurança|klucz bezpieczeństwa|ключ безопасности|güvenlik anahtarı|セキュリティキー|パスキー|安全密钥|通行密钥|보안 키|패스키",
    ),
  ],
  [
    "backup",
    phrases(
      "recovery code|backup code|recovery|backup|wiederherstellungscode|code de secours|código de recuperación|código de backup|codice di recupero|herstelcode|kod zapasowy|резервный код|kurtarma kodu|バックアップコード|备用|백업 코드",
    ),
  ],
] as const;

function passwordlike() {
  return phrases(
    "password|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|hasło|пароль|şifre|パスワード|密码|비밀번호",
  );
}

/** Providers: the name, words, and hosts where a button leads. */
export const providers = [
  ["google", phrases("google"), ["accounts.google.com"]],
  [
    "microsoft",
    phrases("microsoft|office 365|outlook|azure ad|entra"),
    ["login.microsoftonline.com", "login.live.com"],
  ],
  ["apple", phrases("apple"), ["appleid.apple.com"]],
  ["github", phrases("github|git hub"), ["github.com"]],
  ["gitlab", phrases("gitlab"), ["gitlab.com"]],
  ["facebook", phrases("facebook|meta"), ["www.facebook.com"]],
  ["linkedin", phrases("linkedin|linked in"), ["www.linkedin.com"]],
  ["twitter", phrases("twitter|x twitter"), ["api.twitter.com", "x.com"]],
  ["slack", phrases("slack"), ["slack.com"]],
  ["discord", phrases("discord"), ["discord.com"]],
  ["amazon", phrases("amazon"), ["www.amazon.com"]],
  ["okta", phrases("okta"), ["*.okta.com", "*.oktapreview.com"]],
  ["auth0", phrases("auth0"), ["*.auth0.com"]],
  ["yahoo", phrases("yahoo"), ["login.yahoo.com"]],
  [
    "sso",
    phrases(
      "sso|single sign on|saml|company account|enterprise login|work account|unternehmenskonto|firmenkonto|compte professionnel",
    ),
    ["*.onelogin.com", "*.pingone.com", "*.pingidentity.com", "*.amazoncognito.com"],
  ],
] as const;
