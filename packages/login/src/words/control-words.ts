import { phrases } from "./phrases.ts";

export const signInWords = phrases(
  "sign in|signin|log in|login|log on|logon|sign on|signon|customer login|anmelden|einloggen|anmeldung|connexion|se connecter|connectez vous|identifiez vous|s identifier|me connecter|iniciar sesion|iniciar sesión|inicia sesion|acceder|entrar|ingresar|iniciar sessão|iniciar sessao|acessar|fazer login|aceder",
  "accedi|accesso|entra|inloggen|log masuk|zaloguj*|logowanie|logga in|logg inn|log ind|kirjaudu|войти|вход|авторизоваться|giris*|giriş*|oturum ac|oturum aç|prihlasit*|přihlásit*|ログイン|サインイン|登录|登錄|登入|로그인",
);
export const continueWords = phrases(
  "continue|next|proceed|weiter|fortfahren|suivant|continuer|siguiente|continuar|próximo|proximo|seguinte|avançar|avanti|continua|prosegui|volgende|doorgaan|verder|dalej|kontynuuj|nästa|fortsätt|далее|продолжить|devam|devam et|ileri|sonraki|次へ|続行|続ける|进む|進む|下一步|继续|繼續|다음|계속",
);
export const sendWords = phrases(
  "submit|verify|confirm|send|send code|ok|go|enter|unlock|authenticate|done|save|change password|update password|set password|bestätigen|bestatigen|prüfen|senden|absenden|speichern|passwort andern|valider|vérifier|confirmer|envoyer|enregistrer|verificar|confirmar|enviar|guardar|salvar",
  "verifica|conferma|invia|salva|bevestigen|verifiëren|verzenden|opslaan|potwierdź|zweryfikuj|wyślij|zapisz|bekräfta|verifiera|skicka|spara|подтвердить|отправить|сохранить|doğrula|onayla|gönder|kaydet|確認|送信|認証|変更|验证|确认|驗證|確認|提交|保存|확인|전송|인증|저장|email me a link|send link|get link|send magic link",
);
/** Buttons of a form that do not send it. */
export const sideWords = phrases(
  "forgot*|forgotten|lost your|reset|clear|create|register|sign up|signup|join|new account|cancel|back|help|show|hide|resend|send again|send a new|didn t|learn more|close|dismiss|switch account|use another|another account|try another|other options|privacy|terms|cookie*|language|recover*|need help|trouble",
  "vergessen|registrieren|konto erstellen|abbrechen|zurück|hilfe|anzeigen|erneut senden|schließen|oublié|créer|inscrire|inscription|annuler|retour|aide|afficher|renvoyer|fermer|olvidaste|olvidado|crear|registrarse|regístrate|cancelar|volver|ayuda|mostrar|reenviar|cerrar|esqueceu|esqueci|criar|cadastrar|cadastre|voltar|ajuda|fechar",
  "dimenticat*|crea|registrati|annulla|indietro|aiuto|mostra|chiudi|vergeten|registreren|annuleren|terug|toon|sluiten|zapomnia*|nie pamiętasz|utwórz|zarejestruj|anuluj|wstecz|pokaż|glömt|skapa|avbryt|забыли|создать|регистрация|отмена|назад|показать|unuttum|unuttunuz|kaydol|üye ol|iptal|geri|göster|忘れ|新規|登録|キャンセル|戻る|表示|忘记|忘記|注册|註冊|取消|返回|显示|찾기|회원가입|가입|취소|뒤로|표시",
);
export const signOutWords = phrases(
  "sign out|signout|log out|logout|log off|logoff|sign off|abmelden|ausloggen|déconnexion|se déconnecter|deconnexion|me déconnecter|cerrar sesión|cerrar sesion|desconectar|salir|sair|terminar sessão|encerrar sessão|esci|disconnetti|logout|uitloggen|afmelden|wyloguj*|logga ut|logg ut|log ud|выйти|выход|çıkış*|cikis*|oturumu kapat|odhlásit*|ログアウト|サインアウト|退出|登出|注销|로그아웃",
);
export const registerWords = phrases(
  "sign up|signup|register|registration|create account|create an account|create your account|join|join now|get started|new customer|registrieren|registrierung|konto erstellen|konto anlegen|créer un compte|s inscrire|inscription|crear cuenta|crear una cuenta|registrarse|regístrate|registro|criar conta|cadastro|cadastre se|registrar",
  "crea account|crea un account|registrati|registrazione|account aanmaken|registreren|utwórz konto|zarejestruj*|rejestracja|załóż konto|skapa konto|создать аккаунт|регистрация|зарегистрироваться|kaydol|üye ol|hesap oluştur|新規登録|会員登録|アカウント作成|注册|註冊|创建账户|회원가입|가입하기",
);
export const rememberWords = phrases(
  "remember|remember me|stay signed in|stay logged in|keep me signed in|keep me logged in|trust this|trust device|don t ask again|angemeldet bleiben|eingeloggt bleiben|merken|vertrauen|se souvenir|rester connecté|rester connectée|mémoriser|recordarme|recuérdame|recordar|mantener la sesión|confiar|lembrar|lembrar me|manter conectado|manter sessão|ricordami|resta connesso|rimani",
  "onthoud|onthouden|ingelogd blijven|aangemeld blijven|zapamiętaj|pozostań|nie wylogowuj|kom ihåg|håll mig inloggad|запомнить|не выходить|beni hatırla|oturumumu|açık tut|ログイン状態を保持|保持する|記憶|次回から|记住|保持登录|記住|로그인 상태 유지|자동 로그인|기억",
);
export const otherWayWords = phrases(
  "try another way|another way|other way|other options|more options|use another method|something else|choose another|different method|other sign in options|sign in another way|use your password|use password|use a password|use password instead|enter your password|can t use|cannot use|use a different|i can t",
  "andere methode|andere möglichkeit|auf andere weise|anders anmelden|andere option*|mit passwort|passwort verwenden|autre méthode|autre moyen|essayer autrement|autrement|utiliser un mot de passe|otra manera|otro método|otra forma|otras opciones|usar contraseña|outra forma|outro método|outra maneira|usar senha|altro metodo|altro modo|prova in un altro modo|usa la password",
  "andere manier|andere methode|inny sposób|inna metoda|annat sätt|другой способ|другим способом|başka bir yol|başka yöntem|別の方法|他の方法|パスワードを使用|其他方式|其他方法|使用密码|다른 방법|비밀번호 사용",
);
export const passwordWayWords = phrases(
  "enter your password|use your password|use password|use a password|use password instead|password|mit passwort|passwort|kennwort|mot de passe|contraseña|senha|wachtwoord|hasło|пароль|şifre|パスワード|密码|密碼|비밀번호",
);
export const consentWords = phrases(
  "allow|authorize|authorise|accept|agree|grant|approve|yes|zulassen|erlauben|autorisieren|zustimmen|autoriser|accepter|permitir|autorizar|aceptar|aceitar|consenti|autorizza|accetta|toestaan|akkoord|zezwól|tillåt|разрешить|izin ver|許可|承認|允许|授权|同意|허용|동의",
);
/** Least consent first. */
export const rejectWords = phrases(
  "reject all|reject|decline|deny|refuse|only necessary|necessary only|only essential|essential only|use necessary|no thanks|no thank you|not now|maybe later|skip|alle ablehnen|ablehnen|nur notwendige|nur erforderliche|nein danke|nein|später|tout refuser|refuser|continuer sans accepter|non merci|plus tard|rechazar|rechazar todo|solo necesarias|no gracias|ahora no",
  "rejeitar|recusar|apenas necessários|não obrigado|agora não|rifiuta|rifiuta tutto|solo necessari|no grazie|non ora|weigeren|alleen noodzakelijk|nee bedankt|odrzuć|tylko niezbędne|nie dziękuję|avvisa|nej tack|отклонить|только необходимые|нет спасибо|не сейчас|reddet|hayır|şimdi değil|拒否|すべて拒否|必要なもののみ|後で|拒绝|仅必要|不用|稍后|거부|필수만|나중에",
);
/** Questions after a login that can wait. */
export const skipWords = phrases(
  "skip|skip for now|not now|maybe later|later|remind me later|no thanks|do it later|ask me later|überspringen|später|jetzt nicht|nein danke|ignorer|plus tard|passer|pas maintenant|omitir|ahora no|más tarde|pular|agora não|mais tarde|salta|non ora|più tardi|overslaan|niet nu|later herinneren|pomiń|nie teraz|później|hoppa över|inte nu|пропустить|не сейчас|позже|atla|şimdi değil|daha sonra|スキップ|後で|今はしない|跳过|以后再说|稍后|건너뛰기|나중에",
);
export const closeWords = phrases(
  "close|dismiss|x|×|✕|✖|schließen|fermer|cerrar|fechar|chiudi|sluiten|zamknij|stäng|закрыть|kapat|閉じる|关闭|關閉|닫기",
);
export const acceptWords = phrases(
  "accept|accept all|agree|got it|ok|okay|i understand|allow all|alle akzeptieren|akzeptieren|zustimmen|verstanden|einverstanden|accepter|tout accepter|j accepte|compris|aceptar|aceptar todo|entendido|aceitar|aceitar todos|accetta|accetta tutto|ho capito|accepteren|akkoord|akceptuj*|zgadzam|acceptera|принять|согласен|kabul*|同意|すべて許可|承諾|接受|全部接受|동의|수락",
);
export const overlayWords = phrases(
  "cookie*|consent|privacy|gdpr|newsletter|subscribe|offer|discount|notification*|datenschutz|einwilligung|angebot|confidentialité|privacidad|privacidade|riservatezza|prywatnoś*|plików|конфиденциальност*|gizlilik|çerez*|クッキー|プライバシー|隐私|쿠키|개인정보",
);
export const logonLinkWords = phrases(
  "my account|account|mein konto|mon compte|mi cuenta|minha conta|il mio account|mijn account|moje konto|mitt konto|личный кабинет|hesabım|マイページ|我的账户|마이페이지|client area|customer area|member area|kundenbereich|espace client|área de clientes|for members",
);
